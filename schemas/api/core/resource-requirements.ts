/** Compute resource requirements. */
import { list, map, string, type ObjectOf, type Static } from '../../language/declare.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { message } from './package.js'

export type ResourceClaim = Static<typeof ResourceClaim>
export const ResourceClaim = message('ResourceClaim', 'A claim of the pod that a container uses.', {
  name: string(1, 'Name of the claim in resourceClaims of the pod.', { required: true, ruled: true }),
  request: string(2, 'Request of the claim that is used; by default all.')
})

const AMOUNTS = {
  limits: map(1, 'Most that may be used, by resource name.', Quantity),
  requests: map(2, 'Least that must be available, by resource name; by default the limits.', Quantity)
}

function round ({ limits, requests }: ObjectOf<typeof AMOUNTS>): void {
  roundToMilli(limits)
  roundToMilli(requests)
}

export type ResourceRequirements = Static<typeof ResourceRequirements>
export const ResourceRequirements =
  message('ResourceRequirements', 'Compute resources that are needed and that may be used.', {
    ...AMOUNTS,
    claims: list(3, 'Claims of the pod that the container uses.', ResourceClaim, {
      listType: 'map', listMapKeys: ['name'], gate: 'DynamicResourceAllocation', since: '1.26'
    })
  }, { defaults: round })

export type VolumeResourceRequirements = Static<typeof VolumeResourceRequirements>
export const VolumeResourceRequirements =
  message('VolumeResourceRequirements', 'Storage that is needed and that may be used.', AMOUNTS, {
    defaults: round, formerly: { message: ResourceRequirements, until: '1.29' }
  })
