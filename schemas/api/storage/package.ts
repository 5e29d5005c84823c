import { apiPackage } from '../../language/declare.js'

export const { message, kind } = apiPackage('storage.orch.io', 'v1', 'io.orch.api.storage.v1')
