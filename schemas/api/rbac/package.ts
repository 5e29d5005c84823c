import { apiPackage } from '../../language/declare.js'
import { pathSegment } from '../../names.js'

export const RBAC_GROUP = 'rbac.authorization.orch.io'

export const { message, kind } = apiPackage(RBAC_GROUP, 'v1', 'io.orch.api.rbac.v1')

/** Names of its objects may be anything a path segment may be. An update is judged as a new object and again beside the old one. */
export const common = { createOnUpdate: true, nameRule: pathSegment, rounds: { metadata: 3, change: 2, object: 2 } } as const
