/** Compute resource requirements. */
import { map, type Static } from '../../language/declare.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { message } from './package.js'

export type ResourceRequirements = Static<typeof ResourceRequirements>
export const ResourceRequirements =
  message('ResourceRequirements', 'Compute resources that are needed and that may be used.', {
    limits: map(1, 'Most that may be used, by resource name.', Quantity),
    requests: map(2, 'Least that must be available, by resource name; by default the limits.', Quantity)
  }, {
    defaults: ({ limits, requests }) => {
      roundToMilli(limits)
      roundToMilli(requests)
    }
  })
