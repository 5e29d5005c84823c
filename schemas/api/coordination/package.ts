import { apiPackage } from '../../language/declare.js'

/** coordination.orch.io, version v1. */
export const { message, kind } = apiPackage('coordination.orch.io', 'v1', 'io.orch.api.coordination.v1')
