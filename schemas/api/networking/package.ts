import { apiPackage } from '../../language/declare.js'

/** networking.orch.io, version v1. */
export const { message, kind } = apiPackage('networking.orch.io', 'v1', 'io.orch.api.networking.v1')
