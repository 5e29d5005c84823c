/** Warning events on objects that name an owner of another namespace, which is none. Once for each. */
import { timestamp } from '../../schemas/meta/time.js'
import type { Clock } from '../../event-loop/clock.js'
import { warningEvent } from '../warning-event.js'
import type { CollectedType } from './collected-type.js'
import type { ObjectState, OwnerReference } from './object-state.js'
import type { Requests } from './requests.js'

/** Those that are remembered. */
const MAX_REPORTED = 1000

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
    const { apiVersion, kind } = type.kinds[0] ?? { apiVersion: '', kind: '' }
    const reference =
      `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
    const body = warningEvent({
      about: { kind, apiVersion, namespace, name, uid },
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`,
      component: 'garbage-collector-controller',
      time: timestamp(this.clock.wall())
    })
    const path = `/api/v1/namespaces/${encodeURIComponent(body.metadata.namespace)}/events`
    try {
      await this.requests.ask({ method: 'POST', path, body })
    } catch (error) {
      this.log('an event about an owner in another namespace could not be made', error)
    }
  }
}
