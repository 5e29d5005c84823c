/** User and group ids that a PodSecurityPolicy allows. */
import type { IDRange } from '../../schemas/api/policy/podsecuritypolicies.js'
import type { FieldError } from '../../schemas/status.js'

type Id = number | bigint

interface Strategy { readonly rule?: string | undefined, readonly ranges?: readonly IDRange[] | undefined }

const isIn = (id: Id, ranges: readonly IDRange[]): boolean => ranges.some(({ min, max }) => id >= min && id <= max)
const show = (ranges: readonly IDRange[]): string => `[${ranges.map(({ min, max }) => `{${min} ${max}}`).join(' ')}]`

/** The default id: the first allowed one if an id is mandatory. */
export const firstOf = ({ rule, ranges = [] }: Strategy): Id | undefined =>
  rule === 'MustRunAs' ? ranges[0]?.min : undefined

export function groupFindings ({ rule, ranges = [] }: Strategy, groups: readonly Id[], field: string): FieldError[] {
  if (rule !== 'MustRunAs' && rule !== 'MayRunAs') return []
  const empty: FieldError[] = rule === 'MustRunAs' && groups.length === 0
    ? [
        {
          type: 'FieldValueInvalid', field, value: [], detail: 'unable to validate empty groups against required ranges'
        }
      ]
    : []
  const outside = groups.find(group => !isIn(group, ranges))
  return outside === undefined
    ? empty
    : [...empty, {
        type: 'FieldValueInvalid', field, value: outside,
        detail: `group ${outside} must be in the ranges: ${show(ranges)}`
      }]
}

export function userFindings (
  { rule, ranges = [] }: Strategy, user: Id | undefined, nonRoot: boolean | undefined, at: string
): FieldError[] {
  const field = `${at}.runAsUser`
  if (rule === 'MustRunAs') {
    if (user === undefined) return [{ type: 'FieldValueRequired', field, detail: '' }]
    return isIn(user, ranges)
      ? []
      : [{ type: 'FieldValueInvalid', field, value: user, detail: `must be in the ranges: ${show(ranges)}` }]
  }
  if (rule !== 'MustRunAsNonRoot') return []
  if (nonRoot === undefined && user === undefined) {
    return [{ type: 'FieldValueRequired', field: `${at}.runAsNonRoot`, detail: 'must be true' }]
  }
  if (nonRoot === false) {
    return [{ type: 'FieldValueInvalid', field: `${at}.runAsNonRoot`, value: false, detail: 'must be true' }]
  }
  return user === 0
    ? [{ type: 'FieldValueInvalid', field, value: 0, detail: 'running with the root UID is forbidden' }]
    : []
}
