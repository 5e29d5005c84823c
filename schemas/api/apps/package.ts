import { apiPackage } from '../../language/declare.js'

export const { message, kind } = apiPackage('apps', 'v1', 'io.orch.api.apps.v1')
