import { apiPackage } from '../../language/declare.js'

export const { message, kind, special, alternatives } = apiPackage(
  'apiextensions.orch.io', 'v1', 'io.orch.apiextensions-apiserver.pkg.apis.apiextensions.v1'
)
