/** Whether a controller manager leads, which does the work of some controllers here itself. */
import type { Lease } from '../schemas/api/coordination/leases.js'
import type { ControllerOptions } from './controller.js'

const LEADERS = ['orch-controller-manager', 'kube-controller-manager']

/** Whether a controller manager holds its lease. */
export async function isLed (
  { resources, clock = resources.clock }: Pick<ControllerOptions, 'resources' | 'clock'>
): Promise<boolean> {
  const store = resources.find('coordination.orch.io', 'leases')
  for (const name of store === undefined ? [] : LEADERS) {
    const lease = await store?.reader.get('coordination.orch.io', 'leases', 'orch-system', name)
    const { holderIdentity = '', leaseDurationSeconds = 0, renewTime = '' } = (lease as Lease | undefined)?.spec ?? {}
    const until = Date.parse(renewTime) + leaseDurationSeconds * 1000
    if (holderIdentity !== '' && until > clock.wall()) return true
  }
  return false
}
