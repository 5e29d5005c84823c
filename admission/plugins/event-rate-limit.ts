/**
 * EventRateLimit: events are refused with 429 beyond so many each second, of the server, of a namespace, of a user, or of a source about
 * an object. Needs its limits from the configuration. (Off by default.)
 */
import type { Event } from '../../schemas/api/core/events.js'
import { listed, StatusError } from '../../schemas/status.js'
import { typed } from '../../registry/admission.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { Buckets } from '../buckets.js'
import type { Limit, LimitType } from '../event-limits.js'

const KEYS: Readonly<Record<LimitType, (request: AdmissionRequest) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user?.username ?? '',
  SourceAndObject: request => {
    const { source = {}, involvedObject = {} } = (typed<Event>(request).object ?? {}) as Partial<Event>
    return [source.component, source.host, involvedObject.kind, involvedObject.namespace, involvedObject.name, involvedObject.uid, involvedObject.apiVersion].join('')
  }
}

/** @param elapsed milliseconds, for tests */
export function eventRateLimit (limits: readonly Limit[], elapsed = (): number => performance.now()): AdmissionPlugin {
  const all = limits.map(limit => ({ ...limit, buckets: new Buckets(limit, elapsed) }))
  return {
    name: 'EventRateLimit',
    // Of the core group, as those of the other one come from sources that limit themselves.
    // A dry run writes nothing, and so takes nothing of what others may write.
    handles: ({ operation, resource, requested, subresource, dryRun }) => !dryRun && (operation === 'CREATE' || operation === 'UPDATE') && resource === 'events' && requested.group === '' && subresource === '',
    validate: request => {
      // Each is asked, and counts, whatever the others say.
      const reached = all.map(({ type, buckets }) => ({ type, key: KEYS[type](request), buckets })).filter(({ key, buckets }) => !buckets.take(key))
      if (reached.length === 0) return
      const told = [...new Set(reached.map(({ type, key }) => `limit reached on type ${type} for key ${key}`))]
      throw new StatusError('TooManyRequests', `Too many requests: ${listed(told)}`)
    }
  }
}
