import { apiPackage } from '../../language/declare.js'

/** certificates.orch.io, version v1. */
export const { message, kind, special } = apiPackage('certificates.orch.io', 'v1', 'io.orch.api.certificates.v1')
