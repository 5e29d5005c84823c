import { apiPackage } from '../../language/declare.js'

/** autoscaling, version v1. */
export const { message, kind } = apiPackage('autoscaling', 'v1', 'io.orch.api.autoscaling.v1')
