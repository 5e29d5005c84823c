import { apiPackage } from '../../language/declare.js'

/** scheduling.orch.io, version v1. */
export const { message, kind } = apiPackage('scheduling.orch.io', 'v1', 'io.orch.api.scheduling.v1')
