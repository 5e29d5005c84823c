/** Whether a controller manager leads, which does the work of some controllers here itself. */
import type { Lease } from '../schemas/api/coordination/leases.js'
import type { ControllerOptions } from './controller.js'

/** The names of its lease, and of its user after `system:`. */
export const LEADERS = ['orch-controller-manager', 'kube-controller-manager']

type Tools = Pick<ControllerOptions, 'resources' | 'clock'>

/** Whether a controller manager holds its lease. */
export const isLed = ({ resources, clock = resources.clock }: Tools): Promise<boolean> =>
  someLease(resources, ({ holderIdentity = '', leaseDurationSeconds = 0, renewTime = '' }) =>
    holderIdentity !== '' && Date.parse(renewTime) + leaseDurationSeconds * 1000 > clock.wall())

/** Whether a controller manager has renewed its lease within that many milliseconds. */
export const renewedWithin = (milliseconds: number, { resources, clock = resources.clock }: Tools): Promise<boolean> =>
  someLease(resources, ({ renewTime = '' }) => Date.parse(renewTime) + milliseconds > clock.wall())

async function someLease (
  resources: Tools['resources'], holds: (spec: NonNullable<Lease['spec']>) => boolean
): Promise<boolean> {
  const store = resources.find('coordination.orch.io', 'leases')
  for (const name of store === undefined ? [] : LEADERS) {
    const lease = await store?.reader.get('coordination.orch.io', 'leases', 'orch-system', name)
    if (holds((lease as Lease | undefined)?.spec ?? {})) return true
  }
  return false
}
