import { apiPackage } from '../../language/declare.js'

/** The core group, version v1. */
export const { message, kind } = apiPackage('', 'v1', 'io.orch.api.core.v1')
