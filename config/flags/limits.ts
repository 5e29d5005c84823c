/** Flags for limits, timeouts and shutdown. */
import { bool, duration, float, int, withLater } from '../flag.js'

export const limits = {
  'request-timeout': duration(60_000, 'timeout of requests that are not long-running', { min: 1 }),
  'min-request-timeout': int(
    1800, 'minimum seconds a watch stays open if its client sets no timeout; it ends at a random time up to twice that',
    { min: 1, max: 1_000_000 }
  ),
  'max-requests-inflight': int(
    400,
    'maximum non-mutating requests in flight; with priority and fairness a part of the seats that requests share, ' +
      'without it more are answered with 429 and 0 is no limit',
    { min: 0 }
  ),
  'max-mutating-requests-inflight': int(
    200,
    'maximum mutating requests in flight; with priority and fairness a part of the seats that requests share, ' +
      'without it more are answered with 429 and 0 is no limit',
    { min: 0 }
  ),
  'enable-priority-and-fairness': bool(
    true,
    'share out seats for requests by priority level, and queue requests fairly, rather than refuse those beyond a ' +
      'limit; needs the feature gate APIPriorityAndFairness'
  ),
  'max-connection-bytes-per-sec': int(
    0, 'bandwidth limit of long-running requests in bytes per second; 0 is no limit', { min: 0 }
  ),
  'goaway-chance': float(
    0,
    'probability that an HTTP/2 request is followed by GOAWAY, so that clients behind a load balancer reconnect to ' +
      'another server',
    { min: 0, max: 0.02 }
  )
}

export const health = {
  'livez-grace-period': duration(0, 'startup time during which /livez ignores post-start hooks that are not finished'),
  'shutdown-delay-duration': duration(0, 'time to keep serving, with /readyz failing, after SIGTERM'),
  'shutdown-watch-termination-grace-period': duration(
    0, 'time over which open watches end evenly during shutdown; 0 is a second'
  ),
  'storage-initialization-timeout': withLater('1.31', 60_000, duration(
    0, 'time after which /readyz no longer waits until all resources are in memory; 0 is no limit'
  ), '1m0s'),
  'shutdown-send-retry-after': bool(
    false, 'keep listening during shutdown and answer new requests with 429 and Retry-After'
  )
}
