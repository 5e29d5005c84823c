/**
 * The evaluator of claims to devices: their number, and how many devices of each class they may get. A device counts
 * by the extended resources of its class too, as if a pod had asked for it by them.
 */
import type { ResourceClaim } from '../../schemas/api/resource/v1.js'
import { isExtendedResource } from '../../schemas/rules/quantities.js'
import type { Evaluator } from './evaluator.js'
import { OF_CLASS, REQUESTS, type ExtendedResources } from './extended-resources.js'

const COUNT = 'count/resourceclaims.resource.orch.io'
const CLASS_SUFFIX = '.deviceclass.resource.orch.io/devices'
/** Of a request for all devices that match: as many as a claim can get. */
const ALL = 32

interface Asked {
  readonly deviceClassName: string
  readonly allocationMode?: string | undefined
  readonly count?: number | bigint | undefined
}

const devicesOf = ({ allocationMode, count = 0 }: Asked): number => allocationMode === 'All' ? ALL : Number(count)

/** Of alternatives, the largest of each class. */
function byClass (asked: readonly Asked[]): Map<string, number> {
  const most = new Map<string, number>()
  for (const request of asked) {
    most.set(request.deviceClassName, Math.max(devicesOf(request), most.get(request.deviceClassName) ?? 0))
  }
  return most
}

/** @param extended undefined where classes have no extended resources */
export const deviceClaimEvaluator = (extended?: ExtendedResources): Evaluator => ({
  handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
  tracks: name => name === COUNT || name.endsWith(CLASS_SUFFIX) || (extended !== undefined && (
    name.startsWith(OF_CLASS) || (name.startsWith(REQUESTS) && isExtendedResource(name.slice(REQUESTS.length)))
  )),
  usage: object => {
    const claim = object as ResourceClaim // the resource's type
    const classes = new Map<string, number>()
    for (const { exactly, firstAvailable = [] } of claim.spec.devices.requests ?? []) {
      for (const [name, count] of byClass(exactly === undefined ? firstAvailable : [exactly])) add(classes, name, count)
    }
    const sums = new Map<string, number>([[COUNT, 1]])
    const paid = extended?.paidByPod(claim)
    for (const [name, count] of classes) {
      add(sums, name + CLASS_SUFFIX, count)
      for (const other of extended?.namesOf(name) ?? []) if (paid?.has(other) !== true) add(sums, other, count)
    }
    return Object.fromEntries([...sums].map(([name, count]) => [name, String(count)]))
  },
  isIn: () => false
})

function add (sums: Map<string, number>, name: string, count: number): void {
  sums.set(name, (sums.get(name) ?? 0) + count)
}
