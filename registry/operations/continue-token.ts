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

export function encodeToken ({ revision, next }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: next })).toString('base64url')
}

/** Undefined for one that is none of this server. */
export function decodeToken (text: string): ContinueToken | undefined {
  if (text.length > MOST_LENGTH || !/^[\w-]*$/.test(text)) return undefined
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
    if (v !== VERSION || !Number.isSafeInteger(rv) || typeof start !== 'string' || !isPath(start)) return undefined
    const revision = rv as number // a safe integer
    return revision > 0 || revision === NEWEST ? { revision, next: start } : undefined
  } catch {
    return undefined
  }
}

function isPath (start: string): boolean {
  if (!/^[\x20-\x7e]*\0?$/.test(start)) return false
  const steps = start.replace(/\0$/, '').split('/')
  return steps[0] !== '' && !steps.includes('..') && !steps.includes('.')
}
