/** The package of batch/v1. */
import { apiPackage } from '../../language/declare.js'

export const { kind, message } = apiPackage('batch', 'v1', 'io.orch.api.batch.v1')
