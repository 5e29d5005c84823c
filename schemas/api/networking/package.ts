import { apiPackage } from '../../language/declare.js'

export const { message, kind } = apiPackage('networking.orch.io', 'v1', 'io.orch.api.networking.v1')
