/** Messages between the supervisor and its child processes, sent through the IPC channel of `child_process`. */

import type { Exposition } from '../../plugins/metrics/merged.js'
import type { RequestLike } from '../../plugins/stalled-requests.js'

/** Environment variable with the role of a child process: `NUMBER/COUNT` or `store`. */
export const ROLE = 'ORCH_PROCESS'
export const STORE = 'store'

/** The pipe to the supervisor that a process's thread writes to while its event loop stalls. */
export const STALL_DESCRIPTOR = 4
/**
 * Places in the memory that a process shares with that thread: the request it works for, and a number that grows while
 * its event loop runs.
 */
export const WORKED_FOR = 0
export const BEATS = 1

/** A line of that pipe. */
export interface Stalled { readonly like: RequestLike | undefined }

/** Sent to that thread when it has to know a number, and one that it may forget. */
export interface ToThread { readonly number: number, readonly like: RequestLike, readonly forget: number }

/** Sent to a process. */
export type Command =
  /**
   * Start now. Carries the lock of the store's directory to the process of the store. With `first`, create the files of
   * a first start and log what the whole server logs once.
   */
  | { readonly kind: 'start', readonly first: boolean, readonly ticketKeys: Uint8Array }
  /** Carries a socket, unless its client has disconnected. */
  | { readonly kind: 'connection' }
  /** Become the leader. */
  | { readonly kind: 'lead' }
  /** The leader has finished the steps that readiness waits for. */
  | { readonly kind: 'led' }
  | { readonly kind: 'verbosity', readonly v: number }
  | { readonly kind: 'report' }
  | { readonly kind: 'collect', readonly request: number }
  | { readonly kind: 'collected', readonly request: number, readonly expositions: readonly Exposition[] }
  /** Refuse requests like one with which a process hung, until then: milliseconds since the epoch. */
  | { readonly kind: 'refuse', readonly like: RequestLike, readonly until: number }
  /** Answer with `alive`. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'end' }

/** Sent by a process. */
export type Report =
  /** The files of a first start exist. */
  | { readonly kind: 'prepared' }
  /** The process accepts connections. */
  | { readonly kind: 'serving' }
  /** All checks of readyz pass, for the first time. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'led' }
  /** The process has received the connection that was sent last. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'alive' }
  /** Number of connections that ended since the last such message. */
  | { readonly kind: 'ended', readonly connections: number }
  /** The shutdown no longer accepts new connections. */
  | { readonly kind: 'stopped' }
  /** The process ends because of an error of its own: others get the new connections. */
  | { readonly kind: 'failing' }
  | { readonly kind: 'verbosity', readonly v: number }
  /** Asks for the metrics of the other processes. `text` contains those of the sender. */
  | { readonly kind: 'collect', readonly request: number, readonly text: Uint8Array }
  | { readonly kind: 'exposition', readonly request: number, readonly text: Uint8Array }
