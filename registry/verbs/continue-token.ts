/**
 * Continue tokens of paged lists: the revision of the first page, and the next key relative to the start of the
 * requested range. A forged token cannot reach objects outside that range.
 */
import type { Revision } from '../../storage/backend.js'

/** Instead of a revision: continue with the newest state. */
export const NEWEST = -1

export interface ContinueToken {
  readonly revision: Revision | typeof NEWEST
  /** Next key, relative to the start of the requested range. */
  readonly next: string
}

const VERSION = 'meta.orch.io/v1'
/** Fits the longest possible key with every character escaped. */
const MAX_LENGTH = 8192

export function encodeToken ({ revision, next }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: next })).toString('base64url')
}

/** Undefined for a token of another server. */
export function decodeToken (text: string): ContinueToken | undefined {
  if (text.length > MAX_LENGTH || !/^[\w-]*$/.test(text)) return undefined
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
