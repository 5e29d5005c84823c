/** The resources of scheduling.orch.io. */
import { priorityClasses } from './priorityclasses.js'

export const scheduling = [priorityClasses]
