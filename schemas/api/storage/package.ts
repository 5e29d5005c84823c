import { apiPackage } from '../../language/declare.js'

/** storage.orch.io, version v1. */
export const { message, kind } = apiPackage('storage.orch.io', 'v1', 'io.orch.api.storage.v1')
