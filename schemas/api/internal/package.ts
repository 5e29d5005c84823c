import { apiPackage } from '../../language/declare.js'

/** internal.apiserver.orch.io, version v1alpha1. */
export const { message, kind } = apiPackage('internal.apiserver.orch.io', 'v1alpha1', 'io.orch.api.apiserverinternal.v1alpha1')
