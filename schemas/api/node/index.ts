/** The resources of node.orch.io. */
import { runtimeClasses } from './runtimeclasses.js'

export const node = [runtimeClasses]
