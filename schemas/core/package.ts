import { apiPackage, one } from '../declare.js'
import { ObjectMeta } from '../meta/object.js'

/** The core group, version v1. */
export const { message, kind } = apiPackage('', 'v1', 'io.orch.api.core.v1')

/** The first field of every kind. */
export const metadata = one(1, 'Standard object metadata.', ObjectMeta)
