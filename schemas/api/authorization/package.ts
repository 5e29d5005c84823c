import { apiPackage } from '../../language/declare.js'

/** authorization.orch.io, version v1. */
export const { message, kind, special } = apiPackage('authorization.orch.io', 'v1', 'io.orch.api.authorization.v1')
