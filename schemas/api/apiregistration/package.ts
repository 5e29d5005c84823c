import { apiPackage } from '../../language/declare.js'

/** apiregistration.orch.io, version v1. */
export const { message, kind } = apiPackage('apiregistration.orch.io', 'v1', 'io.orch.kube-aggregator.pkg.apis.apiregistration.v1')
