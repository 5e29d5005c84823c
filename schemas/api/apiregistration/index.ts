/** The resources of apiregistration.orch.io. */
import { apiServices } from './apiservices.js'

export const apiRegistration = [apiServices]
