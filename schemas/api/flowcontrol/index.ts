/** The resources of flowcontrol.apiserver.orch.io: who may use how much of the server. */
import { flowSchemas } from './flowschemas.js'
import { priorityLevelConfigurations } from './prioritylevelconfigurations.js'

export const flowcontrol = [flowSchemas, priorityLevelConfigurations]
