/** The types of coordination.orch.io/v1, for those who use them elsewhere. */
export { Lease, LeaseSpec } from './leases.js'
