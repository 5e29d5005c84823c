/** The resources of coordination.orch.io. */
import { leases } from './leases.js'

export const coordination = [leases]
