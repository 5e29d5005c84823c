/**
 * The continue token of a paged list: the revision of the first page and where the next one starts, the
 * latter relative to the collection asked for. Whatever a client makes of it, reading starts inside the
 * requested range and ends where that range ends, so a forged token can name no object that the request
 * itself could not.
 */
import type { Revision } from '../../storage/backend.js'

/** In place of a revision: go on with the newest state, whatever the pages before were of. */
export const NEWEST = -1

export interface ContinueToken {
  readonly revision: Revision | typeof NEWEST
  /** Next key, relative to the start of the requested range. */
  readonly next: string
}

const VERSION = 'meta.orch.io/v1'
/** Room for the longest key there can be, each of its characters escaped. */
const MOST_LENGTH = 8192
/** Of what was sent, in a refusal. */
const MOST_SHOWN = 100

export function encodeToken ({ revision, next }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: next })).toString('base64url')
}

/** What is wrong with a token, in the words of the convention where it has any that do not hang on how it reads JSON. */
export interface TokenProblem { readonly problem: string }

const because = (problem: string): TokenProblem => ({ problem })
const FOREIGN = because('it is none of this server; start the list again')

export function decodeToken (text: string): ContinueToken | TokenProblem {
  if (text.length > MOST_LENGTH) return FOREIGN
  const stranger = firstIllegal(text)
  if (stranger !== undefined) return because(`illegal base64 data at input byte ${stranger}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return FOREIGN
  }
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? checked(parsed as Record<string, unknown>) : FOREIGN
}

/** Where base64 without padding ends to be one: at a letter that is none of it, or at the last one when that stands alone. */
function firstIllegal (text: string): number | undefined {
  const at = text.search(/[^\w-]/)
  if (at !== -1) return at
  return text.length % 4 === 1 ? text.length - 1 : undefined
}

/** Goes by the order in which the convention looks at the parts. */
function checked ({ v = '', rv = 0, start = '' }: Record<string, unknown>): ContinueToken | TokenProblem {
  if (typeof v !== 'string' || typeof rv !== 'number' || typeof start !== 'string') return FOREIGN
  if (v !== VERSION) return because(`server does not recognize this encoded version ${JSON.stringify(v.slice(0, MOST_SHOWN))}`)
  if (rv === 0) return because(`incorrect encoded start resourceVersion (version ${VERSION})`)
  if (start === '') return because(`encoded start key empty (version ${VERSION})`)
  if (!Number.isSafeInteger(rv) || (rv < 0 && rv !== NEWEST)) return FOREIGN
  return isPath(start) ? { revision: rv, next: start } : because(start.slice(0, MOST_SHOWN))
}

function isPath (start: string): boolean {
  if (!/^[\x20-\x7e]*\0?$/.test(start)) return false
  const steps = start.replace(/\0$/, '').split('/')
  return steps[0] !== '' && !steps.includes('..') && !steps.includes('.')
}
