/** The public types of coordination.orch.io/v1. */
export { Lease, LeaseSpec } from './leases.js'
