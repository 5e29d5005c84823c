/** ClusterRoles that gather the rules of others by their labels: kept filled, whoever changes what. */
import type { ClusterRole } from '../../schemas/api/rbac/clusterroles.js'
import { sameValue } from '../../schemas/index.js'
import { matchesSelector } from '../../schemas/selectors/objects.js'
import { isStatusError } from '../../schemas/status.js'
import { serverContext } from '../../registry/operations/context.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue } from '../work-queue.js'
import { isStorageError } from '../../storage/errors.js'
import { change } from '../../registry/operations/update.js'
import type { Rule } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'

/** The same for rules that say the same. */
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
        await this.#fill(name)
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
          this.#roles.set(entry.name, entry.object as ClusterRole) // of a type that is one
          this.#gatherAll()
        },
        deleted: ({ name }) => {
          this.#roles.delete(name)
          this.#gatherAll()
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

  /** Those that gather are few. */
  #gatherAll (): void { for (const [name, { aggregationRule }] of this.#roles) if (aggregationRule != null) this.#queue.add(name) }

  /** In the order of names, each rule once. */
  #rulesFor (name: string, { aggregationRule }: ClusterRole): Rule[] {
    const selectors = aggregationRule?.clusterRoleSelectors ?? []
    const rules = new Map<string, Rule>()
    for (const other of [...this.#roles.keys()].sort()) {
      const role = this.#roles.get(other)
      if (role === undefined || other === name || !selectors.some(selector => matchesSelector(selector, role.metadata.labels ?? {}))) continue
      for (const rule of role.rules ?? []) {
        const key = keyOf(rule)
        if (!rules.has(key)) rules.set(key, rule)
      }
    }
    return [...rules.values()]
  }

  async #fill (name: string): Promise<void> {
    const store = this.#options.resources.find(GROUP, 'clusterroles')
    const role = this.#roles.get(name)
    if (store === undefined || role?.aggregationRule == null) return
    const rules = this.#rulesFor(name, role)
    if (sameValue(rules, role.rules ?? [])) return
    await change(store, { namespace: '', name }, { ...serverContext(this.#closing.signal), mayGrow: true }, base => Object.assign(base.copy(), { rules })).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  }
}
