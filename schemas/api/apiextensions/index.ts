/** The resources of apiextensions.orch.io. */
import { customResourceDefinitions } from './customresourcedefinitions.js'

export const apiExtensions = [customResourceDefinitions]
