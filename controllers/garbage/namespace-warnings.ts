/** Warning events on objects that name an owner of another namespace, which is none. Once for each. */
import { randomBytes } from 'node:crypto'
import { timestamp } from '../../schemas/meta/time.js'
import type { Clock } from '../../event-loop/clock.js'
import type { CollectedType } from './collected-type.js'
import type { ObjectState, OwnerReference } from './object-state.js'
import type { Requests } from './requests.js'

/** Those that are remembered. */
const MAX_REPORTED = 1000
const MAX_NAME = 200
/** Of cluster-scoped objects. */
const NAMESPACE = 'default'

export class NamespaceWarnings {
  readonly #reported = new Set<string>()

  constructor (
    private readonly requests: Requests, private readonly clock: Clock,
    private readonly log: (message: string, error: unknown) => void
  ) {}

  /** Never rejects: what is collected does not depend on its event. */
  async report (type: CollectedType, { uid, namespace, name }: ObjectState, owner: OwnerReference): Promise<void> {
    const id = `${uid} ${owner.uid}`
    if (this.#reported.has(id)) return
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear()
    this.#reported.add(id)
    const within = namespace === '' ? NAMESPACE : namespace
    const now = timestamp(this.clock.wall())
    const { apiVersion, kind } = type.kinds[0] ?? { apiVersion: '', kind: '' }
    const reference =
      `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
    const body = {
      kind: 'Event', apiVersion: 'v1',
      metadata: { name: `${name.slice(0, MAX_NAME)}.${randomBytes(8).toString('hex')}`, namespace: within },
      involvedObject: { kind, apiVersion, namespace, name, uid },
      reason: 'OwnerRefInvalidNamespace', type: 'Warning',
      message: `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`,
      source: { component: 'garbage-collector-controller' }, firstTimestamp: now, lastTimestamp: now, count: 1
    }
    try {
      await this.requests.ask({ method: 'POST', path: `/api/v1/namespaces/${encodeURIComponent(within)}/events`, body })
    } catch (error) {
      this.log('an event about an owner in another namespace could not be made', error)
    }
  }
}
