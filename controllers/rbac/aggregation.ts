/**
 * Keeps the rules of aggregated ClusterRoles up to date. Such roles may select each other, so their rules are computed
 * from those of the other roles alone: else they would copy rules from one another that nobody grants any more.
 */
import type { ClusterRole } from '../../schemas/api/rbac/clusterroles.js'
import { sameValue } from '../../schemas/language/values.js'
import { matchesSelector } from '../../schemas/selectors/objects.js'
import { isStatusError } from '../../schemas/status.js'
import { serverContext } from '../../registry/write-context.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue } from '../work-queue.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { isStorageError } from '../../storage/errors.js'
import { change } from '../../registry/verbs/change.js'
import type { Rule } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'

/** Equal for equal rules. */
const keyOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): string =>
  JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs].map(list => list ?? []))

type Rules = ReadonlyMap<string, Rule>

const rulesOf = ({ rules }: ClusterRole): Rules => new Map((rules ?? []).map(rule => [keyOf(rule), rule]))

/** By aggregated role the names of the roles that it selects, sorted. */
async function selections (roles: ReadonlyMap<string, ClusterRole>): Promise<Map<string, readonly string[]>> {
  const sorted = [...roles].sort(([one], [other]) => one < other ? -1 : 1)
  const selected = new Map<string, readonly string[]>()
  for (const [name, { aggregationRule }] of roles) {
    if (aggregationRule == null) continue
    const selectors = aggregationRule.clusterRoleSelectors ?? []
    selected.set(name, sorted.filter(([other, { metadata: { labels = {} } }]) =>
      other !== name && selectors.some(selector => matchesSelector(selector, labels))).map(([other]) => other))
    if (turnIsOver()) await nextTurn()
  }
  return selected
}

/**
 * The rules of all aggregated roles, in the order of role names and without duplicates. They begin with none and grow
 * until no selection adds any.
 */
async function resolve (all: ReadonlyMap<string, ClusterRole>): Promise<ReadonlyMap<string, Rules>> {
  const roles = new Map(all) // others may come meanwhile
  const selected = await selections(roles)
  const resolved = new Map([...roles].map(([name, role]): [string, Rules] =>
    [name, selected.has(name) ? new Map() : rulesOf(role)]))
  for (let grew = true; grew;) {
    grew = false
    for (const [name, others] of selected) {
      const rules = new Map<string, Rule>()
      for (const other of others) for (const [key, rule] of resolved.get(other) ?? []) rules.set(key, rule)
      grew ||= rules.size > (resolved.get(name)?.size ?? 0)
      resolved.set(name, rules)
      if (turnIsOver()) await nextTurn()
    }
  }
  return resolved
}

export class RoleAggregation implements Controller {
  readonly #options: ControllerOptions
  readonly #closing = new AbortController()
  readonly #roles = new Map<string, ClusterRole>()
  readonly #queue: WorkQueue
  /** What the roles add up to, until one changes. */
  #resolved: ReturnType<typeof resolve> | undefined
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
    this.#resolved = undefined
    for (const [name, { aggregationRule }] of this.#roles) if (aggregationRule != null) this.#queue.add(name)
  }

  async #update (name: string): Promise<void> {
    const store = this.#options.resources.find(GROUP, 'clusterroles')
    const role = this.#roles.get(name)
    if (store === undefined || role?.aggregationRule == null) return
    const rules = [...(await (this.#resolved ??= resolve(this.#roles))).get(name)?.values() ?? []]
    if (sameValue(rules, role.rules ?? [])) return
    await change(store, { namespace: '', name }, { ...serverContext(this.#closing.signal), mayGrow: true }, base =>
      Object.assign(base.copy(), { rules })).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  }
}
