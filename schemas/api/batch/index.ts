/** The resources of batch: pods that come to an end. */
import { cronJobs } from './cronjobs.js'
import { jobs } from './jobs.js'

export const batch = [cronJobs, jobs]
