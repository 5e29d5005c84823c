/**
 * Requests of the collector to this server, as a user of its own: authorized, admitted and audited like those of any
 * client, and passed on to extension servers.
 */
import type { CollectedType } from './collected-type.js'
import { stateOf, type ObjectState } from './object-state.js'

export interface Answer {
  readonly code: number
  /** Parsed. */
  readonly body: unknown
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
}

export interface Requests {
  /** Asks for metadata alone, where the answer is an object or a list. @throws Error without a whole answer */
  readonly ask: (request: Request) => Promise<Answer>
  /** The events of a watch, parsed, until it ends. @throws Error if it does not begin */
  readonly watch: (path: string, signal: AbortSignal) => AsyncIterable<unknown>
}

export type Policy = 'Orphan' | 'Background' | 'Foreground'

/** How a write ended: `conflict` if the object is another by now, or in another version. */
export type Outcome = 'done' | 'gone' | 'conflict'

/** A request that was refused; it may be allowed later. */
export class Refused extends Error {
  constructor ({ method, path }: Request, { code, body }: Answer) {
    const { message } = (body ?? {}) as { message?: unknown }
    super(`${method} ${path} was answered with ${code}${typeof message === 'string' ? `: ${message}` : ''}`)
  }
}

/** Deletes the object if it is still this one, in this version. @throws Refused, Error */
export async function deleteObject (
  requests: Requests, type: CollectedType, { uid, resourceVersion, ...place }: ObjectState, propagationPolicy: Policy
): Promise<Outcome> {
  return await outcomeOf(requests, {
    method: 'DELETE', path: type.pathOf(place), body: {
      kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion }, propagationPolicy
    }
  })
}

/** Changes metadata of the object if it is still this one, in this version. @throws Refused, Error */
export async function patchMetadata (
  requests: Requests, type: CollectedType, { uid, resourceVersion, ...place }: ObjectState,
  metadata: Partial<Pick<ObjectState, 'finalizers'>> & { readonly ownerReferences?: ObjectState['owners'] }
): Promise<Outcome> {
  return await outcomeOf(requests, {
    method: 'PATCH', path: type.pathOf(place), body: { metadata: { uid, resourceVersion, ...metadata } }
  })
}

async function outcomeOf (requests: Requests, request: Request): Promise<Outcome> {
  const answer = await requests.ask(request)
  if (answer.code >= 200 && answer.code < 300) return 'done'
  if (answer.code === 404) return 'gone'
  if (answer.code === 409) return 'conflict'
  throw new Refused(request, answer)
}

/** The state of an object that a server is asked for. @throws Refused, Error if it is not known whether it is there */
export async function readObject (requests: Requests, path: string): Promise<ObjectState | undefined> {
  const request = { method: 'GET', path } as const
  const answer = await requests.ask(request)
  const { kind, reason } = (answer.body ?? {}) as { kind?: unknown, reason?: unknown }
  if (answer.code === 404 && kind === 'Status' && reason === 'NotFound') return undefined
  if (answer.code !== 200) throw new Refused(request, answer)
  return stateOf(answer.body)
}
