/** A token taken apart, before anything of it is believed: three parts, of which two are JSON. Bounded whatever comes. */
import { parseJson } from '../../../schemas/index.js'

type Members = Readonly<Record<string, unknown>>

export interface Compact {
  readonly header: Members
  readonly claims: Members
  /** True where a member occurs twice, so that readers may differ in what it says. */
  readonly ambiguous: boolean
}

/** Characters; more than any header of a request holds. Tokens that are issued stay below. */
export const LONGEST_TOKEN = 64 * 1024
const BOUNDS = { values: 10_000, members: 10_000, entries: 10_000 }
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** False, at little cost, for what is no token of ours: each begins with the brace of a JSON object. */
export const mayBeCompact = (token: string): boolean => token.charCodeAt(0) === 0x65 && token.length <= LONGEST_TOKEN

/** Undefined for what is not of this form. */
export function takeApart (token: string): Compact | undefined {
  if (!mayBeCompact(token) || !FORM.test(token)) return undefined
  const [first = '', second = ''] = token.split('.')
  const header = part(first)
  const claims = part(second)
  return header === undefined || claims === undefined ? undefined : { header: header.members, claims: claims.members, ambiguous: header.ambiguous || claims.ambiguous }
}

function part (text: string): { members: Members, ambiguous: boolean } | undefined {
  try {
    const { value, duplicates } = parseJson(Buffer.from(text, 'base64url'), BOUNDS)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return { members: value as Members, ambiguous: duplicates.length > 0 }
  } catch {
    return undefined
  }
}
