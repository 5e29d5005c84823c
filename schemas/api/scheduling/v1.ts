/** The types of scheduling.orch.io/v1, for those who use them elsewhere. */
export { PriorityClass } from './priorityclasses.js'
