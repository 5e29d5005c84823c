import { apiPackage } from '../../language/declare.js'

/** authentication.orch.io, version v1. */
export const { message, kind, special } = apiPackage('authentication.orch.io', 'v1', 'io.orch.api.authentication.v1')

/** Of what stock clients post below the core group, whose path is the same, without asking what the group is called. */
export const { kind: stockKind } = apiPackage('authentication.orch.io', 'v1', 'io.orch.api.authentication.v1', { alsoAs: 'authentication.k8s.io/v1' })
