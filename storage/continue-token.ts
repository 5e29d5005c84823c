/**
 * The continue token of a paged list: the revision of the first page and where the next one starts, the
 * latter relative to the collection asked for. Whatever a client makes of it, reading starts inside the
 * requested range and ends where that range ends, so a forged token can name no object that the request
 * itself could not.
 */
import type { Revision } from './backend.js'

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

export function encodeToken ({ revision, next }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: next })).toString('base64url')
}

/** Undefined when the text is no token of ours. */
export function decodeToken (text: string): ContinueToken | undefined {
  if (text.length > MOST_LENGTH || !/^[\w-]+=*$/.test(text)) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { v, rv, start } = parsed as Record<string, unknown>
  if (v !== VERSION || !Number.isSafeInteger(rv) || ((rv as number) <= 0 && rv !== NEWEST) || typeof start !== 'string' || !/^[\x20-\x7e]*\0?$/.test(start)) return undefined
  const steps = start.replace(/\0$/, '').split('/')
  if (start === '' || steps.includes('..') || steps.includes('.') || steps[0] === '') return undefined
  return { revision: rv as number, next: start }
}
