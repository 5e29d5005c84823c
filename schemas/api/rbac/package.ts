import { apiPackage } from '../../language/declare.js'
import { pathSegment } from '../../names.js'

export const RBAC_GROUP = 'rbac.authorization.orch.io'

export const { message, kind } = apiPackage(RBAC_GROUP, 'v1', 'io.orch.api.rbac.v1')

/** RBAC objects may have any path segment as their name. */
export const common = { createOnUpdate: true, nameRule: pathSegment } as const
