import { apiPackage } from '../../language/declare.js'

/** policy, version v1beta1. */
export const { message, kind } = apiPackage('policy', 'v1beta1', 'io.orch.api.policy.v1beta1')
