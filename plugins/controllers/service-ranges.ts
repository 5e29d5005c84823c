/** The controllers of ranges and addresses of services that are objects. */
import { AddressObjects, type AddressObjectsOptions } from '../../controllers/services/address-objects.js'
import { DefaultRanges } from '../../controllers/services/default-ranges.js'
import { RangeFinalizers } from '../../controllers/services/range-finalizers.js'
import { RangesInUse } from '../../controllers/services/ranges-in-use.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'

export function serviceRanges (options: AddressObjectsOptions & { readonly allocation: ServiceAllocation }) {
  const ranges = [...options.allocation.addresses.values()].map(({ slots }) => slots.range)
  return [
    {
      name: 'start-service-ip-repair-controllers', task: 'the ranges and addresses of services could not be made',
      controllers: [new DefaultRanges({ ...options, ranges }), new AddressObjects(options)]
    },
    {
      everywhere: true as const, task: 'the ranges of services could not be followed',
      controllers: [new RangesInUse(options)]
    },
    { task: 'the ranges of services could not be kept', controllers: [new RangeFinalizers(options)] }
  ]
}
