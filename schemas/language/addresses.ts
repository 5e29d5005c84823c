/**
 * Forms of IP addresses and address ranges (`holds` of their fields), in releases that are strict about them: of new
 * values, those that programs read differently are refused, and other unusual ones warned of. What stands is forgiven.
 */
import { ambiguity, canonicalForm, type Holds } from '../rules/address-forms.js'
import { invalid } from '../rules/findings.js'
import { anywhere, planOf, type Plan, type PlannedField } from './plan.js'
import { oncePer } from '../once-per.js'
import type { Message, Plain, Report } from './types.js'

const holds = ({ field }: PlannedField): Holds | undefined => field.holds
const hasAddresses = anywhere(({ fields }) => fields.some(field => holds(field) !== undefined))
/** The fields that hold addresses, or objects that do. */
const relevant = oncePer(({ fields }: Plan) => fields.filter(field => holds(field) !== undefined ||
  (field.innermost.message !== undefined && field.innermost.special === undefined &&
    hasAddresses(field.innermost.plan))))

interface Found {
  readonly path: string
  /** The path that findings have. */
  readonly field: string
  readonly text: string
  readonly holds: Holds
}

function * find (plan: Plan, object: Plain, at: string): Generator<Found> {
  for (const field of relevant(plan)) {
    const value = object[field.name]
    if (value === undefined || value === null) continue
    if (Array.isArray(value)) {
      for (const [index, item] of (value as unknown[]).entries()) yield * findIn(field, item, at, `[${index}]`)
    } else yield * findIn(field, value, at, '')
  }
}

function * findIn (planned: PlannedField, value: unknown, at: string, index: string): Generator<Found> {
  const { field: { foundAs }, name, innermost } = planned
  const below = (member: string): string => `${at === '' ? '' : `${at}.`}${member}${index}`
  const [path, own] = [below(name), holds(planned)]
  if (own === undefined) yield * find(innermost.plan, value as Plain, path)
  else if (typeof value === 'string') yield { path, field: below(foundAs ?? name), text: value, holds: own }
}

/** Whether objects of a type hold addresses. */
export const holdsAddresses = (message: Message): boolean => hasAddresses(planOf(message))

/** Labels by which controllers say that they wrote an object; they write addresses in the best form. */
const MANAGED: ReadonlyArray<readonly [label: string, by: RegExp]> = [
  ['endpoints.orch.io/managed-by', /^endpoint-controller$/],
  ['endpointslice.orch.io/managed-by', /^endpointslice(?:mirroring)?-controller\.\S+$/]
]

function isManaged (object: object): boolean {
  const { metadata } = object as { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
  return MANAGED.some(([label, by]) => by.test(metadata?.labels?.[label] ?? ''))
}

/** Checks the forms of addresses that `old` does not have at the same kind of place. @param old undefined on create */
export function checkAddressForms (message: Message, object: object, old: object | undefined, report: Report): void {
  const plan = planOf(message)
  const known = new Set(old === undefined ? [] : [...find(plan, old as Plain, '')].map(placeOf))
  const warn = isManaged(object) ? undefined : report.warn
  for (const address of find(plan, object as Plain, '')) {
    if (known.has(placeOf(address))) continue
    const wrong = ambiguity(address.text, address.holds)
    if (wrong !== undefined) {
      invalid(report, address.field, address.text, wrong)
      continue
    }
    const better = canonicalForm(address.text, address.holds)
    if (better === undefined) continue
    const [text, form] = [JSON.stringify(address.text), JSON.stringify(better)]
    const [what, kind] = address.holds === 'ip' ? ['IP address', 'address'] : ['CIDR value', 'CIDR value']
    warn?.(address.text.includes(':')
      ? `${address.path}: IPv6 ${kind} ${text} should be in RFC 5952 canonical format (${form})`
      : `${address.path}: non-standard ${what} ${text} is invalid: use ${form}`)
  }
}

/** The value and its place, whatever the index in a list. */
const placeOf = ({ path, text }: Found): string => `${path.replaceAll(/\[\d+\]/g, '[]')}=${text}`
