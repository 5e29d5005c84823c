import { apiPackage } from '../../language/declare.js'

/** batch, version v1. */
export const { message, kind } = apiPackage('batch', 'v1', 'io.orch.api.batch.v1')
