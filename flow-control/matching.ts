/**
 * Finds the flow schema of a request: the first, in order, with a rule that matches user and request. An index by
 * subject limits the comparison to the rules of the user, however many others exist.
 */
import type {
  FlowSchemaSpec, NonResourcePolicyRule, ResourcePolicyRule, Subject
} from '../schemas/api/flowcontrol/v1beta1.js'
import type { RequestInfo } from '../auth/request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'

const ALL = '*'
const ACCOUNT_PREFIX = 'system:serviceaccount:'
/** Results are cached for users with more rules than this. */
const CACHE_MIN_RULES = 32
const MAX_CACHED_RESULTS = 1000
const MAX_CACHED_SETS = 100

interface Ordered { readonly spec: FlowSchemaSpec }

/** The rules of one list of subjects. */
interface Rule<T> {
  readonly order: number
  readonly schema: T
  readonly resources: ReadonlyArray<(info: RequestInfo) => boolean>
  readonly paths: ReadonlyArray<(info: RequestInfo) => boolean>
}

/** All rules of one subject. */
interface SubjectRules<T> { readonly id: number, readonly rules: Array<Rule<T>> }
type Index<T> = Map<string, SubjectRules<T>>

interface Candidates<T> {
  readonly rules: ReadonlyArray<Rule<T>>, readonly answers: Map<string, T | undefined> | undefined
}

type OneOf = (value: string) => boolean

function oneOf (values: readonly string[] = []): OneOf {
  if (values.includes(ALL)) return () => true
  const [first] = values
  if (values.length === 1) return value => value === first
  const set = new Set(values)
  return value => set.has(value)
}

function resourceRule (
  { verbs, apiGroups, resources, namespaces, clusterScope = false }: ResourcePolicyRule
): (info: RequestInfo) => boolean {
  const [verb, group, resource, namespace] = [oneOf(verbs), oneOf(apiGroups), oneOf(resources), oneOf(namespaces)]
  return info => verb(info.verb) && group(info.group) &&
    resource(info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`) &&
    (info.namespace === '' ? clusterScope : namespace(info.namespace))
}

function pathRule ({ verbs, nonResourceURLs = [] }: NonResourcePolicyRule): (info: RequestInfo) => boolean {
  const [verb, path] = [oneOf(verbs), oneOf(nonResourceURLs)]
  // A path covers everything below it, with or without a star.
  const prefixes = nonResourceURLs.map(url => `${url.replace(/\/?\*?$/, '')}/`)
  return info => verb(info.verb) && (path(info.path) || prefixes.some(prefix => info.path.startsWith(prefix)))
}

/** @returns `namespace/name`, undefined for other users; as upstream, the name is everything after the namespace */
function accountOf (username: string): string | undefined {
  if (!username.startsWith(ACCOUNT_PREFIX)) return undefined
  const [namespace = '', ...name] = username.slice(ACCOUNT_PREFIX.length).split(':')
  return name.length > 0 ? `${namespace}/${name.join(':')}` : undefined
}

export class Matcher<T extends Ordered> {
  readonly #users: Index<T> = new Map()
  readonly #groups: Index<T> = new Map()
  /** By `namespace/name`; the name may be a star. */
  readonly #accounts: Index<T> = new Map()
  #subjects = 0
  /** Authenticators return the same user object while they cache it. */
  readonly #ofUser = new WeakMap<UserInfo, Candidates<T>>()
  /** By the subjects that match a user. */
  readonly #ofSubjects = new Map<string, Candidates<T>>()

  /** @param schemas in matching order */
  constructor (schemas: readonly T[]) {
    let order = 0
    for (const schema of schemas) {
      for (const { subjects = [], resourceRules = [], nonResourceRules = [] } of schema.spec.rules ?? []) {
        const rule: Rule<T> = {
          order: order++, schema, resources: resourceRules.map(resourceRule), paths: nonResourceRules.map(pathRule)
        }
        for (const subject of subjects) this.#index(subject, rule)
      }
    }
  }

  /** Undefined if no rule matches. */
  match (user: UserInfo, info: RequestInfo): T | undefined {
    let candidates = this.#ofUser.get(user)
    if (candidates === undefined) this.#ofUser.set(user, candidates = this.#about(user))
    const { rules, answers } = candidates
    if (answers === undefined) return first(rules, info)
    const key = info.isResourceRequest
      ? `${info.verb} ${info.group} ${info.resource} ${info.subresource} ${info.namespace}`
      : `${info.verb} ${info.path}`
    if (answers.has(key)) return answers.get(key)
    const result = first(rules, info)
    if (answers.size >= MAX_CACHED_RESULTS) answers.clear()
    answers.set(key, result)
    return result
  }

  #index (subject: Subject, rule: Rule<T>): void {
    if (subject.kind === 'User' && subject.user !== undefined) this.#add(this.#users, subject.user.name, rule)
    if (subject.kind === 'Group' && subject.group !== undefined) this.#add(this.#groups, subject.group.name, rule)
    if (subject.kind === 'ServiceAccount' && subject.serviceAccount !== undefined) {
      this.#add(this.#accounts, `${subject.serviceAccount.namespace}/${subject.serviceAccount.name}`, rule)
    }
  }

  #add (index: Index<T>, key: string, rule: Rule<T>): void {
    let about = index.get(key)
    if (about === undefined) index.set(key, about = { id: this.#subjects++, rules: [] })
    if (about.rules.at(-1) !== rule) about.rules.push(rule)
  }

  #about ({ username, groups }: UserInfo): Candidates<T> {
    const lists = [this.#users.get(username), this.#users.get(ALL), this.#groups.get(ALL)]
    for (const group of groups) lists.push(this.#groups.get(group))
    const account = accountOf(username)
    if (account !== undefined) {
      lists.push(this.#accounts.get(account), this.#accounts.get(`${account.slice(0, account.indexOf('/'))}/${ALL}`))
    }
    const subjects = lists.filter(about => about !== undefined)
    const key = subjects.map(({ id }) => id).join(' ')
    let candidates = this.#ofSubjects.get(key)
    if (candidates === undefined) {
      const rules = [...new Set(subjects.flatMap(({ rules }) => rules))].sort((one, other) => one.order - other.order)
      if (this.#ofSubjects.size >= MAX_CACHED_SETS) this.#ofSubjects.clear()
      this.#ofSubjects.set(key, candidates = { rules, answers: rules.length > CACHE_MIN_RULES ? new Map() : undefined })
    }
    return candidates
  }
}

function first<T> (rules: ReadonlyArray<Rule<T>>, info: RequestInfo): T | undefined {
  for (const { schema, resources, paths } of rules) {
    for (const matches of info.isResourceRequest ? resources : paths) if (matches(info)) return schema
  }
  return undefined
}

/** Matching order: by precedence, then by name. */
export const inOrder = (
  one: { readonly name: string, readonly spec: FlowSchemaSpec },
  other: { readonly name: string, readonly spec: FlowSchemaSpec }
): number =>
  (one.spec.matchingPrecedence ?? 0) - (other.spec.matchingPrecedence ?? 0) ||
    (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)
