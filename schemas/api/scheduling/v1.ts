/** The public types of scheduling.orch.io/v1. */
export { PriorityClass } from './priorityclasses.js'
