/** Parses a token into header and claims without trusting either. Size and complexity are bounded. */
import { parseJson } from '../../../schemas/codec/json/parse.js'

type Members = Readonly<Record<string, unknown>>

export interface Compact {
  readonly header: Members
  readonly claims: Members
  /** True if a member is repeated, which parsers may interpret differently. */
  readonly ambiguous: boolean
}

/** Maximum characters; headers cannot hold more. Issued tokens are shorter. */
export const MAX_TOKEN_LENGTH = 64 * 1024
const BOUNDS = { values: 10_000, members: 10_000, entries: 10_000 }
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Cheap pre-check: a JWT starts with the encoded brace of a JSON object. */
export const mayBeCompact = (token: string): boolean => token.charCodeAt(0) === 0x65 && token.length <= MAX_TOKEN_LENGTH

/** Returns undefined if the text is not a compact JWS of JSON objects. */
export function parseCompact (token: string): Compact | undefined {
  if (!mayBeCompact(token) || !FORM.test(token)) return undefined
  const [first = '', second = ''] = token.split('.')
  const header = part(first)
  const claims = part(second)
  return header === undefined || claims === undefined
    ? undefined
    : { header: header.members, claims: claims.members, ambiguous: header.ambiguous || claims.ambiguous }
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
