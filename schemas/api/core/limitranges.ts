/** LimitRange (v1): limits and defaults for each object of a namespace. */
import { map, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { resource } from '../../resource.js'
import { validateLimits } from './rules/limitranges.js'
import { kind, message } from './package.js'

type Amounts = Record<string, string> | undefined

/** For containers: max is the default limit, and that the default request. */
function defaultLimits (
  item: {
    type: string, max?: Amounts, min?: Amounts, default?: Amounts, defaultRequest?: Amounts,
    maxLimitRequestRatio?: Amounts
  }
): void {
  for (const amounts of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio]) {
    roundToMilli(amounts)
  }
  if (item.type !== 'Container') return
  item.default = { ...item.max, ...item.default }
  item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest }
}

export type LimitRangeItem = Static<typeof LimitRangeItem>
export const LimitRangeItem = message('LimitRangeItem', 'Limits for one type of object.', {
  type: string(1, 'What is limited: Container, Pod or PersistentVolumeClaim.', {
    required: true, mayBeEmpty: true, values: ['Pod', 'Container', 'PersistentVolumeClaim']
  }),
  max: map(2, 'Most that may be used, by resource name.', Quantity),
  min: map(3, 'Least that may be used, by resource name.', Quantity),
  default: map(4, 'Limits set where none are given, by resource name.', Quantity),
  defaultRequest: map(5, 'Requests set where none are given, by resource name.', Quantity),
  maxLimitRequestRatio: map(6, 'How many times the request a limit may be, by resource name.', Quantity)
}, { defaults: defaultLimits })

export type LimitRangeSpec = Static<typeof LimitRangeSpec>
export const LimitRangeSpec = message('LimitRangeSpec', 'Limits to enforce in a namespace.', {
  limits: list(1, 'Limits by type of object.', LimitRangeItem, { required: true })
}, { validate: ({ limits }, at, report) => { validateLimits(limits ?? [], `${at}.limits`, report) } })

export type LimitRange = Static<typeof LimitRange>
export const LimitRange = kind('LimitRange', 'Limits on the resources of each object in a namespace.', {
  metadata,
  spec: one(2, 'The limits to enforce.', LimitRangeSpec)
})

export const limitRanges = resource(LimitRange, {
  plural: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  createOnUpdate: true,
  // As upstream, a LimitRange without `name` and `generateName` is named by its UID.
  strategy: { prepareForCreate: ({ metadata }) => { metadata.name ||= metadata.uid } }
})
