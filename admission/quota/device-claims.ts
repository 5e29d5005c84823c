/** The evaluator of claims to devices: their number, and how many devices of each class they may get. */
import type { ResourceClaim } from '../../schemas/api/resource/v1.js'
import type { Evaluator } from './evaluator.js'

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
  for (const one of asked) {
    most.set(one.deviceClassName, Math.max(devicesOf(one), most.get(one.deviceClassName) ?? 0))
  }
  return most
}

export const deviceClaimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
  tracks: name => name === COUNT || name.endsWith(CLASS_SUFFIX),
  usage: object => {
    const { spec: { devices: { requests = [] } } } = object as ResourceClaim // the resource's type
    const sums = new Map<string, number>()
    for (const { exactly, firstAvailable = [] } of requests) {
      for (const [name, count] of byClass(exactly === undefined ? firstAvailable : [exactly])) {
        sums.set(name, (sums.get(name) ?? 0) + count)
      }
    }
    const ofClasses = [...sums].map(([name, count]) => [name + CLASS_SUFFIX, String(count)])
    return { [COUNT]: '1', ...Object.fromEntries(ofClasses) as Record<string, string> }
  },
  isIn: () => false
}
