/**
 * RBAC: roles and their bindings, kept in memory by informers, so that decisions need no I/O. Unresolvable references
 * become part of the refusal and never allow anything.
 *
 * @see interface, 'Authorization flags', 'Errors' 7
 */
import type { Attributes, Authorizer, Rules, Ruling } from '../authorizer.js'
import { notLoaded } from '../refusal.js'
import { resourceRequest, type RequestInfo } from '../request-info.js'
import { MAX_VALUES } from '../../schemas/limits.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Follow, Followed, FollowedResource, ObjectName } from '../follow.js'
import { advice, type Candidates } from './advice.js'
import { Decisions } from './decisions.js'
import { explanation, grantText, type Resolved as Explained } from './explain.js'
import { type Binding, type Grant, Grants } from './grants.js'
import { dependsOnName, distinctRules, type Rule, ruleAllows, sizeOf } from './rules.js'

const GROUP = 'rbac.authorization.orch.io'
/** Members may do everything, regardless of roles. */
const MASTERS = 'system:masters'

/** Kinds of roles, and what their readers may list. */
const KINDS = [{
  kind: 'ClusterRole', resources: ['clusterroles', 'clusterrolebindings']
}, { kind: 'Role', resources: ['roles', 'rolebindings'] }] as const

const listing = (resource: string, namespace: string): RequestInfo => resourceRequest({
  path: `/apis/${GROUP}/v1/${namespace === '' ? '' : `namespaces/${namespace}/`}${resource}`, verb: 'list',
  group: GROUP, version: 'v1', resource, namespace
})

const ALLOW: Ruling = { decision: 'Allow' }

export interface RbacOptions {
  readonly follow: Follow
}

/** The rules of a grant's role: the same array for each grant of the role, so that it is read once. */
type Resolved = readonly Rule[]

/** Maximum number of unresolvable bindings to name. */
const MAX_PROBLEMS = 20

export class RbacAuthorizer implements Authorizer {
  readonly name = 'RBAC'
  readonly #options: RbacOptions
  readonly #grants = new Grants()
  /** By namespace ('' for cluster roles), then by name. */
  readonly #roles = new Map<string, Map<string, readonly Rule[]>>()
  readonly #rulings = new WeakMap<Grant, Ruling>()
  readonly #decisions = new Decisions()
  #followed: Followed | undefined

  constructor (options: RbacOptions) { this.#options = options }

  async start (): Promise<void> {
    const roles = (plural: string): FollowedResource => ({
      group: GROUP,
      plural,
      changed: role => {
        this.#decisions.forget()
        this.#setRole(role as ApiObject & { rules?: Rule[] | null })
      },
      deleted: ({ namespace, name }) => {
        this.#decisions.forget()
        this.#roles.get(namespace)?.delete(name)
      }
    })
    const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`
    const bindings = (plural: string): FollowedResource => ({
      group: GROUP,
      plural,
      changed: object => {
        this.#decisions.forget()
        const binding = object as Binding // the followed resource
        this.#grants.set(
          keyOf({ namespace: binding.metadata.namespace ?? '', name: binding.metadata.name ?? '' }), binding
        )
      },
      deleted: name => {
        this.#decisions.forget()
        this.#grants.delete(keyOf(name))
      }
    })
    // Acknowledged: a write to roles or bindings completes only once decisions use it.
    this.#followed = this.#options.follow(
      'roles and bindings',
      [roles('clusterroles'), roles('roles'), bindings('clusterrolebindings'), bindings('rolebindings')], true
    )
  }

  close (): void { this.#followed?.close() }

  authorize ({ user, info }: Attributes): Ruling {
    if (user.groups.includes(MASTERS)) return ALLOW
    if (this.#followed?.loaded !== true) return notLoaded('RBAC: roles and bindings are not loaded yet')
    this.#followed.catchUp()
    const known = this.#decisions.of(user, info)
    if (known !== undefined) return known
    const [ruling, isOfName] = this.#decide(user, info)
    if (!isOfName) this.#decisions.remember(user, info, ruling)
    return ruling
  }

  /** The ruling, and whether it may be another for an object of another name. */
  #decide (user: UserInfo, info: RequestInfo): readonly [Ruling, isOfName: boolean] {
    const grants = this.#grants.of(user, info.isResourceRequest ? info.namespace : '')
    const seen = new Set<Resolved>()
    let isOfName = false
    for (const grant of grants) {
      const rules = this.#resolve(grant)
      if (rules === undefined || seen.has(rules)) continue
      const allowing = rules.find(rule => ruleAllows(rule, info))
      if (allowing !== undefined) return [this.#allowedBy(grant), isOfName || dependsOnName(allowing, info)]
      isOfName ||= rules.some(rule => dependsOnName(rule, info))
      seen.add(rules)
    }
    const problems = this.#problems(grants)
    const reason = `RBAC: ${problems.join(', ')}`
    return [problems.length === 0 ? NO_RULE : { decision: 'NoOpinion', reason }, isOfName]
  }

  /** One for each grant. */
  #allowedBy (grant: Grant): Ruling {
    let ruling = this.#rulings.get(grant)
    if (ruling === undefined) {
      this.#rulings.set(grant, ruling = { decision: 'Allow', reason: `RBAC: allowed by ${grantText(grant)}` })
    }
    return ruling
  }

  explain ({ user, info }: Attributes): string {
    if (user.groups.includes(MASTERS)) return `allowed, as ${MASTERS} may do everything`
    const namespace = info.isResourceRequest ? info.namespace : ''
    const resolved = (grants: Grant[]): Explained[] =>
      grants.map(grant => ({ grant, rules: this.#resolve(grant) ?? this.#problem(grant) }))
    return explanation(user, info, resolved(this.#grantsOf(user, namespace)), info.isResourceRequest
      ? resolved(this.#grants.elsewhere(user, namespace))
      : [])
  }

  /** For users who may list roles and their bindings: all of the cluster, or those in the request's namespace. */
  advise ({ user, info }: Attributes, authorize: Authorizer['authorize']): string | Promise<string> {
    const namespace = info.isResourceRequest ? info.namespace : ''
    const readable = KINDS.filter(({ kind }) => kind === 'ClusterRole' || namespace !== '')
      .map(({ kind, resources }) => {
        const where = kind === 'Role' ? namespace : ''
        return {
          kind, where, questions: resources.map((resource): Attributes => ({ user, info: listing(resource, where) }))
        }
      }).filter(({ questions }) => questions.every(question => this.authorize(question).decision === 'Allow'))
    // The others are asked only what RBAC allows: they may be remote.
    return readable.length === 0 ? '' : this.#advised(info, readable, authorize)
  }

  async #advised (info: RequestInfo, readable: ReadonlyArray<{
    readonly kind: Candidates['kind'], readonly where: string, readonly questions: readonly Attributes[]
  }>, authorize: Authorizer['authorize']): Promise<string> {
    const candidates: Candidates[] = []
    for (const { kind, where, questions } of readable) {
      const rulings = await Promise.all(questions.map(question => authorize(question)))
      if (rulings.every(({ decision }) => decision === 'Allow')) {
        candidates.push({ kind, roles: this.#roles.get(where) ?? [] })
      }
    }
    return candidates.length === 0 ? '' : advice(info, candidates)
  }

  rules (user: UserInfo, namespace: string): Rules {
    const { rules, problems } = this.rulesOf(user, namespace)
    const masters: Rule[] = user.groups.includes(MASTERS)
      ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }]
      : []
    let left = MAX_VALUES
    const all = [...masters, ...rules]
    const end = all.findIndex(rule => (left -= sizeOf(rule)) < 0)
    const listed = end < 0 ? all : all.slice(0, end)
    if (end >= 0) problems.push(`the rules hold more than ${MAX_VALUES} values, of which these are the first`)
    return {
      resourceRules: listed.flatMap(({ verbs = [], apiGroups = [], resources = [], resourceNames }) => {
        if (resources.length === 0) return []
        return [{ verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) }]
      }),
      nonResourceRules: listed.flatMap(({ verbs = [], nonResourceURLs = [] }) =>
        nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }]),
      // Bindings without a role grant nothing: the list has all rules, beside the error.
      incomplete: end >= 0,
      ...(problems.length === 0 ? {} : { evaluationError: new Error(problems.join(', ')) })
    }
  }

  /** All rules of a user in a namespace, or with '' cluster-wide, and the problems in resolving them. */
  rulesOf (user: UserInfo, namespace: string): { rules: Rule[], problems: string[] } {
    const grants = this.#grantsOf(user, namespace)
    const distinct = new Set(grants.flatMap(grant => [this.#resolve(grant) ?? []]))
    return { rules: [...distinct].flat(), problems: this.#problems(grants) }
  }

  /** The rules of a role; undefined if it does not exist. @param namespace '' for a ClusterRole */
  role (namespace: string, name: string): readonly Rule[] | undefined {
    this.#followed?.catchUp()
    return this.#roles.get(namespace)?.get(name)
  }

  #grantsOf (user: UserInfo, namespace: string): Grant[] {
    this.#followed?.catchUp()
    return this.#grants.of(user, namespace)
  }

  #resolve ({ roleRef: { kind, name }, namespace, fault }: Grant): Resolved | undefined {
    if (fault !== undefined) return undefined
    if (kind === 'ClusterRole') return this.#roles.get('')?.get(name)
    return kind === 'Role' && namespace !== '' ? this.#roles.get(namespace)?.get(name) : undefined
  }

  /**
   * Why the rules of grants cannot be resolved: the first few reasons, as a namespace may hold thousands of bindings
   * without a role.
   */
  #problems (grants: readonly Grant[]): string[] {
    const problems = new Set<string>()
    let more = 0
    for (const grant of grants) {
      if (this.#resolve(grant) !== undefined) continue
      if (problems.size < MAX_PROBLEMS) problems.add(this.#problem(grant))
      else more++
    }
    return more === 0 ? [...problems] : [...problems, `and ${more} more bindings that cannot be resolved`]
  }

  #problem ({ roleRef: { kind, name }, namespace, fault }: Grant): string {
    if (fault !== undefined) return fault
    const isKnown = kind === 'ClusterRole' || (kind === 'Role' && namespace !== '')
    if (!isKnown) return `unsupported role reference kind ${JSON.stringify(kind)}`
    return `${kind.toLowerCase()}.${GROUP} ${JSON.stringify(name)} not found`
  }

  #setRole ({ metadata: { namespace = '', name = '' }, rules }: ApiObject & { rules?: Rule[] | null }): void {
    let byName = this.#roles.get(namespace)
    if (byName === undefined) this.#roles.set(namespace, byName = new Map())
    byName.set(name, distinctRules(rules ?? []))
  }
}

const NO_RULE: Ruling = { decision: 'NoOpinion', reason: '' }
