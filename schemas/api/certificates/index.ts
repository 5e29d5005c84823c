/** The resources of certificates.orch.io. */
import { certificateSigningRequests } from './certificatesigningrequests.js'

export const certificates = [certificateSigningRequests]
