/** Keeps the rules of aggregated ClusterRoles up to date. */
import type { ClusterRole } from '../../schemas/api/rbac/clusterroles.js'
import { sameValue } from '../../schemas/language/values.js'
import { matchesSelector } from '../../schemas/selectors/objects.js'
import { isStatusError } from '../../schemas/status.js'
import { serverContext } from '../../registry/write-context.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue } from '../work-queue.js'
import { isStorageError } from '../../storage/errors.js'
import { change } from '../../registry/verbs/change.js'
import type { Rule } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'

/** Equal for equal rules. */
const keyOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): string =>
  JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs].map(list => list ?? []))

export class RoleAggregation implements Controller {
  readonly #options: ControllerOptions
  readonly #closing = new AbortController()
  readonly #roles = new Map<string, ClusterRole>()
  readonly #queue: WorkQueue
  #informer: Informer | undefined

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: 1,
      work: async name => {
        await this.#update(name)
        return 'done'
      },
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`filling ClusterRole ${name} failed, retrying`, error)
      },
      name: 'ClusterRoleAggregator',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  async start (): Promise<void> {
    const store = this.#options.resources.find(GROUP, 'clusterroles')
    if (store === undefined) return
    this.#informer ??= new Informer({
      store,
      log: this.#options.log,
      handlers: [{
        changed: entry => {
          this.#roles.set(entry.name, entry.object as ClusterRole) // cluster roles only
          this.#enqueueAll()
        },
        deleted: ({ name }) => {
          this.#roles.delete(name)
          this.#enqueueAll()
        }
      }]
    })
    await this.#informer.start()
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#informer?.close()
    await this.#queue.close()
  }

  /** Queues all aggregated roles; there are few. */
  #enqueueAll (): void {
    for (const [name, { aggregationRule }] of this.#roles) if (aggregationRule != null) this.#queue.add(name)
  }

  /** In the order of role names, without duplicates. */
  #rulesFor (name: string, { aggregationRule }: ClusterRole): Rule[] {
    const selectors = aggregationRule?.clusterRoleSelectors ?? []
    const rules = new Map<string, Rule>()
    for (const otherName of [...this.#roles.keys()].sort()) {
      const role = this.#roles.get(otherName)
      if (role === undefined || otherName === name ||
        !selectors.some(selector => matchesSelector(selector, role.metadata.labels ?? {}))) continue
      for (const rule of role.rules ?? []) {
        const key = keyOf(rule)
        if (!rules.has(key)) rules.set(key, rule)
      }
    }
    return [...rules.values()]
  }

  async #update (name: string): Promise<void> {
    const store = this.#options.resources.find(GROUP, 'clusterroles')
    const role = this.#roles.get(name)
    if (store === undefined || role?.aggregationRule == null) return
    const rules = this.#rulesFor(name, role)
    if (sameValue(rules, role.rules ?? [])) return
    await change(store, { namespace: '', name }, { ...serverContext(this.#closing.signal), mayGrow: true }, base =>
      Object.assign(base.copy(), { rules })).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  }
}
