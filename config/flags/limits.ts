/** How much at a time, and for how long; and the server's end. */
import { bool, duration, float, int } from '../flag.js'

export const limits = {
  'request-timeout': duration(60_000, 'time in which a request that is not long-running has to be answered', { min: 1 }),
  'min-request-timeout': int(1800, 'seconds a watch lasts at least when its client does not say; it ends at a random time after that', { min: 1, max: 1_000_000 }),
  'max-requests-inflight': int(400, 'reading requests answered at a time; 0 is no limit', { min: 0 }),
  'max-mutating-requests-inflight': int(200, 'changing requests answered at a time; 0 is no limit', { min: 0 }),
  'enable-priority-and-fairness': bool(true, 'share these out by priority in fair queues'),
  'max-connection-bytes-per-sec': int(0, 'bytes a second on the connection of a long-running request; 0 is no limit', { min: 0 }),
  'goaway-chance': float(0, 'part of the HTTP/2 requests after which the client is asked to connect anew; only behind a balancer of several servers', { min: 0, max: 0.02 })
}

export const health = {
  'livez-grace-period': duration(0, 'time from the start in which livez takes unfinished post-start hooks for done'),
  'shutdown-delay-duration': duration(0, 'time the server goes on serving, unready, when it is told to end'),
  'shutdown-send-retry-after': bool(false, 'while ending keep listening and answer new requests with 429')
}
