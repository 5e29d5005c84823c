/**
 * RBAC: what roles allow those they are bound to. Roles and bindings are kept in memory by informers, so that a decision reads
 * nothing. Whatever can't be resolved becomes the reason of a refusal, and never an allowance.
 *
 * @see interface, 'Authorization flags', 'Errors' 7
 */
import type { Attributes, Authorizer, Rules, Ruling } from '../../schemas/auth/authorizer.js'
import type { UserInfo } from '../../schemas/auth/user.js'
import type { Entry } from '../cache/entry.js'
import { Informer, type ObjectName } from '../controllers/informer.js'
import { startAll } from '../controllers/start-all.js'
import type { ResourceRegistry } from '../registry.js'
import { explanation, grantText, type Resolved as Explained } from './explain.js'
import { type Binding, type Grant, Grants } from './grants.js'
import { type Rule, ruleAllows } from './rules.js'

const GROUP = 'rbac.authorization.orch.io'
/** May do everything, whatever roles there are. */
const MASTERS = 'system:masters'

const ALLOW: Ruling = { decision: 'Allow' }
const NOT_LOADED: Ruling = { decision: 'NoOpinion', reason: 'RBAC: roles and bindings are not loaded yet' }

export interface RbacOptions {
  readonly resources: () => ResourceRegistry
  readonly log: (message: string, error: unknown) => void
}

/** The rules of a grant, or why there are none. */
type Resolved = readonly Rule[] | string

export class RbacAuthorizer implements Authorizer {
  readonly name = 'RBAC'
  readonly #options: RbacOptions
  readonly #grants = new Grants()
  /** By namespace ('' for cluster roles), then by name. */
  readonly #roles = new Map<string, Map<string, readonly Rule[]>>()
  #informers: readonly Informer[] = []
  /** Who writes a role or a binding here is answered when the next question is decided by it. */
  readonly #heedless: Array<() => void> = []
  #loaded = false
  #closed = false

  constructor (options: RbacOptions) { this.#options = options }

  async start (): Promise<void> {
    const roles = (plural: string): Informer => this.#informer(plural, {
      changed: entry => { this.#setRole(entry) },
      deleted: ({ namespace, name }) => { this.#roles.get(namespace)?.delete(name) }
    })
    const bindings = (plural: string): Informer => {
      const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`
      return this.#informer(plural, {
        changed: entry => {
          const binding = entry.read() as Binding // of a type that is one
          this.#grants.set(keyOf({ namespace: binding.metadata.namespace ?? '', name: binding.metadata.name ?? '' }), binding)
        },
        deleted: name => { this.#grants.delete(keyOf(name)) }
      })
    }
    this.#informers = [roles('clusterroles'), roles('roles'), bindings('clusterrolebindings'), bindings('rolebindings')]
    void startAll(this.#informers, { what: 'roles and bindings', log: this.#options.log, closed: () => this.#closed }).then(loaded => { this.#loaded = loaded })
  }

  close (): void {
    this.#closed = true
    for (const end of this.#heedless) end()
    for (const informer of this.#informers) informer.close()
  }

  authorize ({ user, info }: Attributes): Ruling {
    if (user.groups.includes(MASTERS)) return ALLOW
    if (!this.#loaded) return NOT_LOADED
    let problems: string[] | undefined
    for (const grant of this.#of(user, info.isResourceRequest ? info.namespace : '')) {
      const rules = this.#resolve(grant)
      if (typeof rules === 'string') (problems ??= []).push(rules)
      else if (rules.some(rule => ruleAllows(rule, info))) return { decision: 'Allow', reason: `RBAC: allowed by ${grantText(grant)}` }
    }
    return problems === undefined ? NO_RULE : { decision: 'NoOpinion', reason: `RBAC: ${[...new Set(problems)].join(', ')}` }
  }

  explain ({ user, info }: Attributes): string {
    if (user.groups.includes(MASTERS)) return `allowed, as ${MASTERS} may do everything`
    const namespace = info.isResourceRequest ? info.namespace : ''
    const resolved = (grants: Grant[]): Explained[] => grants.map(grant => ({ grant, rules: this.#resolve(grant) }))
    return explanation(user, info, resolved(this.#of(user, namespace)), info.isResourceRequest ? resolved(this.#grants.elsewhere(user, namespace)) : [])
  }

  rules (user: UserInfo, namespace: string): Rules {
    const { rules, problems } = this.rulesOf(user, namespace)
    const masters: Rule[] = user.groups.includes(MASTERS) ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }] : []
    const all = [...masters, ...rules]
    return {
      resourceRules: all.flatMap(({ verbs = [], apiGroups = [], resources = [], resourceNames }) => resources.length === 0 ? [] : [{ verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) }]),
      nonResourceRules: all.flatMap(({ verbs = [], nonResourceURLs = [] }) => nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }]),
      incomplete: problems.length > 0,
      ...(problems.length === 0 ? {} : { evaluationError: new Error(problems.join(', ')) })
    }
  }

  /** All that somebody is allowed in a namespace, or with '' everywhere, and what could not be resolved. */
  rulesOf (user: UserInfo, namespace: string): { rules: Rule[], problems: string[] } {
    const rules: Rule[] = []
    const problems: string[] = []
    for (const grant of this.#of(user, namespace)) {
      const found = this.#resolve(grant)
      if (typeof found === 'string') problems.push(found)
      else rules.push(...found)
    }
    return { rules, problems }
  }

  /** The rules of a role; undefined where there is none. @param namespace '' for a ClusterRole */
  role (namespace: string, name: string): readonly Rule[] | undefined {
    this.#catchUp()
    return this.#roles.get(namespace)?.get(name)
  }

  #of (user: UserInfo, namespace: string): Grant[] {
    this.#catchUp()
    return this.#grants.of(user, namespace)
  }

  /** What the caches have seen counts for the next question. */
  #catchUp (): void { for (const informer of this.#informers) informer.catchUp() }

  #resolve ({ roleRef: { kind, name }, namespace, fault }: Grant): Resolved {
    if (fault !== undefined) return fault
    if (kind === 'ClusterRole') return this.#roles.get('')?.get(name) ?? `clusterrole.${GROUP} ${JSON.stringify(name)} not found`
    if (kind === 'Role' && namespace !== '') return this.#roles.get(namespace)?.get(name) ?? `role.${GROUP} ${JSON.stringify(name)} not found`
    return `unsupported role reference kind ${JSON.stringify(kind)}`
  }

  #setRole (entry: Entry): void {
    const { metadata: { namespace = '', name = '' }, rules } = entry.read() as { metadata: { namespace?: string, name?: string }, rules?: Rule[] | null }
    let there = this.#roles.get(namespace)
    if (there === undefined) this.#roles.set(namespace, there = new Map())
    there.set(name, rules ?? [])
  }

  #informer (plural: string, handler: ConstructorParameters<typeof Informer>[0]['handlers'][number]): Informer {
    const store = this.#options.resources().find(GROUP, plural)
    if (store === undefined) throw new Error(`${plural} of ${GROUP} are not there`)
    const informer = new Informer({ store, handlers: [handler], log: this.#options.log })
    this.#heedless.push(store.heed(revision => informer.reach(revision)))
    return informer
  }
}

const NO_RULE: Ruling = { decision: 'NoOpinion', reason: '' }
