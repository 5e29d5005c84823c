/**
 * EventRateLimit: refuses events with 429 beyond a rate per server, namespace, user, or source and object. Requires a
 * configuration. (Off by default.)
 */
import type { Event } from '../../schemas/api/core/events.js'
import { listed, StatusError } from '../../schemas/status.js'
import { typed, type AdmissionRequest, type AdmissionPlugin } from '../../registry/admission.js'
import { Buckets } from './event-rate-limit-buckets.js'
import type { Limit, LimitType } from './event-rate-limit-configuration.js'

const KEYS: Readonly<Record<LimitType, (request: AdmissionRequest) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user?.username ?? '',
  SourceAndObject: request => {
    const { source = {}, involvedObject = {} } = (typed<Event>(request).object ?? {}) as Partial<Event>
    return [
      source.component, source.host, involvedObject.kind, involvedObject.namespace, involvedObject.name,
      involvedObject.uid, involvedObject.apiVersion
    ]
      .join('')
  }
}

/** @param elapsed monotonic milliseconds */
export function eventRateLimit (limits: readonly Limit[], elapsed: () => number): AdmissionPlugin {
  const all = limits.map(limit => ({ ...limit, buckets: new Buckets(limit, elapsed) }))
  return {
    name: 'EventRateLimit',
    // Core events only: clients of the newer group limit themselves. Dry runs write nothing and take no tokens.
    handles: ({ operation, resource, requested, subresource, dryRun }) => !dryRun &&
      (operation === 'CREATE' || operation === 'UPDATE') && resource === 'events' && requested.group === '' &&
      subresource === '',
    validate: request => {
      // Take a token of each limit, even if another one is exceeded.
      const exceeded = all.map(({ type, buckets }) => ({ type, key: KEYS[type](request), buckets }))
        .filter(({ key, buckets }) => !buckets.take(key))
      if (exceeded.length === 0) return
      const messages = [...new Set(exceeded.map(({ type, key }) => `limit reached on type ${type} for key ${key}`))]
      throw new StatusError('TooManyRequests', `Too many requests: ${listed(messages)}`)
    }
  }
}
