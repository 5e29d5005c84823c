import { apiPackage } from '../../language/declare.js'

/** admissionregistration.orch.io, version v1. */
export const { message, kind } = apiPackage('admissionregistration.orch.io', 'v1', 'io.orch.api.admissionregistration.v1')
