import { apiPackage } from '../../language/declare.js'

/** apps, version v1. */
export const { message, kind } = apiPackage('apps', 'v1', 'io.orch.api.apps.v1')
