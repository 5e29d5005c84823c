/** Divides the limits of a server among its processes. */
import type { LimitOptions, ServerOptions } from './server-options.js'

type Profiling = NonNullable<ServerOptions['profiling']>

/** One of the processes, counted from 1. */
export interface Part { readonly number: number, readonly count: number }

/** The share of one part in a limit; the shares add up to the limit. 0, no limit, stays 0. */
export const shareOf = (limit: number, { number, count }: Part): number =>
  Math.floor(limit / count) + (number <= limit % count ? 1 : 0)

/** Minimum bytes of concurrent request bodies for one process: several of the largest. */
const LEAST_BODY_BYTES = 16 * 1024 * 1024
const BODY_BYTES = 256 * 1024 * 1024

/** The options of one process, with its share of each limit. */
export function dividedOptions (options: ServerOptions, part: Part): ServerOptions {
  const { limits = {}, audit, watchCache, profiling } = options
  const {
    maxRequestsInflight: reading = 400, maxMutatingRequestsInflight: mutating = 200,
    maxBodyBytesInflight: bodies = BODY_BYTES
  } = limits
  const divided: LimitOptions = {
    ...limits,
    maxRequestsInflight: shareOf(reading, part),
    maxMutatingRequestsInflight: shareOf(mutating, part),
    maxBodyBytesInflight: Math.max(LEAST_BODY_BYTES, shareOf(bodies, part))
  }
  return {
    ...options,
    limits: divided,
    ...(profiling === undefined || part.number === 1 ? {} : { profiling: withoutSocket(profiling) }),
    ...(watchCache === undefined ? {} : { watchCache: dividedCache(watchCache, part) }),
    ...(audit === undefined ? {} : { audit: dividedAudit(audit, part) })
  }
}

/** A path can be listened on once. */
function withoutSocket ({ socket: _, ...others }: Profiling): Profiling {
  return others
}

function dividedCache (cache: WatchCache, { count }: Part): WatchCache {
  const { encodedObjects: size } = cache
  if (size === undefined) return cache
  const encodedObjects = 'bytes' in size ? { bytes: Math.floor(size.bytes / count) } : { share: size.share / count }
  return { ...cache, encodedObjects }
}

type WatchCache = NonNullable<ServerOptions['watchCache']>

/** The throttle of audit batches. */
function dividedAudit (audit: NonNullable<ServerOptions['audit']>, part: Part): NonNullable<ServerOptions['audit']> {
  const { webhook } = audit
  return {
    ...audit,
    ...throttled(audit.batch, part),
    ...(webhook === undefined
      ? {}
      : { webhook: { ...webhook, ...throttled(webhook.batch ?? { throttle: { qps: 10, burst: 15 } }, part) } })
  }
}

type Batch = NonNullable<NonNullable<ServerOptions['audit']>['batch']>

function throttled (batch: Batch | undefined, { count }: Part): { batch?: Batch } {
  const { throttle } = batch ?? {}
  return batch === undefined || throttle === undefined
    ? {}
    : {
        batch: {
          ...batch, throttle: { qps: throttle.qps / count, burst: Math.max(1, Math.round(throttle.burst / count)) }
        }
      }
}
