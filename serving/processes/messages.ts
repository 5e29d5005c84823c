/** Messages between the supervisor and the processes that it keeps. They cross the channel of `child_process` in V8's serialization. */

import type { Exposition } from '../../plugins/metrics/merged.js'

/** Names a kept process to itself, as `NUMBER/COUNT` or `store`. */
export const ROLE = 'ORCH_PROCESS'
export const STORE = 'store'

/** To a process. */
export type Order =
  /** Start: the files of the first start are there, or are made by this process. `first` of all processes: it says what is said once. */
  | { readonly kind: 'start', readonly first: boolean, readonly ticketKeys: Uint8Array }
  /** With a socket, unless its client has left. */
  | { readonly kind: 'connection' }
  /** Run what one process of the server runs. */
  | { readonly kind: 'lead' }
  /** What readiness waits for is done by the process that leads. */
  | { readonly kind: 'led' }
  | { readonly kind: 'verbosity', readonly v: number }
  | { readonly kind: 'report' }
  | { readonly kind: 'collect', readonly request: number }
  | { readonly kind: 'collected', readonly request: number, readonly expositions: readonly Exposition[] }
  | { readonly kind: 'end' }

/** From a process. */
export type News =
  /** The files of the first start are there. */
  | { readonly kind: 'prepared' }
  /** It takes connections. */
  | { readonly kind: 'serving' }
  /** All checks of readyz pass, for the first time. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'led' }
  /** It has taken the connection that it was sent last. */
  | { readonly kind: 'accepted' }
  /** So many connections have ended since the last message. */
  | { readonly kind: 'ended', readonly connections: number }
  /** New connections are refused from now on. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'verbosity', readonly v: number }
  /** Asks for the metrics of the other processes. */
  | { readonly kind: 'collect', readonly request: number }
  | { readonly kind: 'exposition', readonly request: number, readonly text: Uint8Array }
