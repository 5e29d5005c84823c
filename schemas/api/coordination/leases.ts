/** Lease (v1): who holds something, and until when. */
import { age, name, text, type Column } from '../../columns.js'
import { int32, one, string, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { MicroTime } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { invalid, notNegative } from '../../rules/findings.js'

const { kind, message } = apiPackage('coordination.orch.io', 'v1', 'io.orch.api.coordination.v1')

/** Never on: fields that it brings are known, and dropped. */
const ELECTION = { gate: 'CoordinatedLeaderElection', since: '1.31' } as const

export type LeaseSpec = Static<typeof LeaseSpec>
export const LeaseSpec = message('LeaseSpec', 'Who holds a lease, and how long.', {
  holderIdentity: string(1, 'Who holds the lease now.', { pointer: true }),
  leaseDurationSeconds: int32(2, 'Seconds after renewTime before others may take the lease.', { pointer: true }),
  acquireTime: one(3, 'When the holder took the lease.', MicroTime, { pointer: true }),
  renewTime: one(4, 'When the holder last renewed the lease.', MicroTime, { pointer: true }),
  leaseTransitions: int32(5, 'How often the lease has changed hands.', { pointer: true }),
  strategy: string(6, 'How the next holder is chosen.', {
    pointer: true, values: ['OldestEmulationVersion'], ...ELECTION
  }),
  preferredHolder: string(7, 'Who should hold the lease instead of the present holder.', {
    pointer: true, ...ELECTION
  })
}, {
  validate: ({ leaseDurationSeconds: seconds, leaseTransitions }, at, report) => {
    if (seconds !== undefined && seconds <= 0) {
      invalid(report, `${at}.leaseDurationSeconds`, seconds, 'must be greater than 0')
    }
    notNegative(report, `${at}.leaseTransitions`, leaseTransitions)
  }
})

export type Lease = Static<typeof Lease>
export const Lease = kind('Lease', 'A lock held for a time, as for leader election or heartbeats.', {
  metadata,
  spec: one(2, 'Who holds the lease, and how long.', LeaseSpec)
})

const columns: ReadonlyArray<Column<Lease>> = [
  name, text('Holder', 'Who holds the lease now.', ({ spec }) => spec.holderIdentity), age
]

export const leases = resource(Lease, {
  plural: 'leases',
  notOnUpdate: ['generateName'],
  namespaced: true,
  createOnUpdate: true,
  unconditionalUpdate: false,
  anyFinalizer: true,
  columns
})
