import { apiPackage } from '../../language/declare.js'
import { pathSegment } from '../../names.js'

export const RBAC_GROUP = 'rbac.authorization.orch.io'

export const { message, kind } = apiPackage(RBAC_GROUP, 'v1', 'io.orch.api.rbac.v1')

/** Names of its objects may be anything a path segment may be. */
export const common = { createOnUpdate: true, nameRule: pathSegment } as const
