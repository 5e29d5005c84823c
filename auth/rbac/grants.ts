/**
 * Grants of roles by namespace, subject and role, so that a decision looks once at each role that is bound to its user,
 * cluster-wide or in its namespace, and a change of a binding looks at that binding's own grants.
 */
import type { ClusterRoleBinding } from '../../schemas/api/rbac/clusterrolebindings.js'
import type { Subject } from '../../schemas/api/rbac/bindings.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

/** The common part of both kinds of bindings. */
export type Binding = ClusterRoleBinding

export interface Grant {
  readonly binding: string
  /** '' for cluster-wide grants. */
  readonly namespace: string
  readonly roleRef: { readonly kind: string, readonly name: string }
  readonly subject: Subject
  /** Why the grant is void. */
  readonly fault: string | undefined
}

/** A subject's grants by role, then by binding; most roles are bound to it once. */
type Roles = Map<string, Grant | Map<string, Grant>>
/** In place of the role of void grants: one fault of a subject is enough to name. */
const VOID = ''
const roleOf = ({ roleRef: { kind, name }, fault }: Grant): string => fault === undefined ? `${kind}/${name}` : VOID

/** Maximum number of namespaces to look for a user's other grants in. */
const MAX_ELSEWHERE = 5_000

/** Above this number of groups, repeated ones are removed first; fewer are looked up faster than compared. */
const MANY_GROUPS = 50

/** The grants in one namespace, or the cluster-wide ones. */
class Scope {
  readonly users = new Map<string, Roles>()
  readonly groups = new Map<string, Roles>()
  /** Grants to unknown kinds of subjects, whose faults are reported to every user. */
  readonly unknown = new Map<string, Roles>()

  get isEmpty (): boolean { return this.users.size + this.groups.size + this.unknown.size === 0 }

  /** Where a subject's grants are. */
  placeOf ({ namespace: at, subject: { kind, name, namespace } }: Grant): [subjects: Map<string, Roles>, key: string] {
    switch (kind) {
      case 'User': return [this.users, name]
      case 'Group': return [this.groups, name]
      case 'ServiceAccount': return [this.users, `system:serviceaccount:${namespace || at}:${name}`]
      default: return [this.unknown, '']
    }
  }
}

function faultOf ({ kind, name, namespace }: Subject, at: string): string | undefined {
  if (kind !== 'User' && kind !== 'Group' && kind !== 'ServiceAccount') {
    return `unrecognized subject kind ${JSON.stringify(kind)}`
  }
  if (kind !== 'ServiceAccount' && namespace) {
    return `${kind} ${JSON.stringify(name)} has a namespace, ${JSON.stringify(namespace)}`
  }
  return kind === 'ServiceAccount' && !namespace && at === ''
    ? `ServiceAccount ${JSON.stringify(name)} has no namespace`
    : undefined
}

export class Grants {
  readonly #scopes = new Map<string, Scope>()
  /** By the binding's key in the store. */
  readonly #bindings = new Map<string, readonly Grant[]>()
  /** Number of grants looked at so far, which tests bound. */
  looked = 0

  /** @param key the binding's key in the store */
  set (key: string, { metadata: { name = '', namespace = '' }, roleRef, subjects = [] }: Binding): void {
    this.delete(key)
    let scope = this.#scopes.get(namespace)
    if (scope === undefined) this.#scopes.set(namespace, scope = new Scope())
    const grants: Grant[] = []
    for (const subject of subjects) {
      const grant: Grant = { binding: name, namespace, roleRef, subject, fault: faultOf(subject, namespace) }
      if (this.#add(scope, grant)) grants.push(grant)
    }
    this.#bindings.set(key, grants)
    if (scope.isEmpty) this.#scopes.delete(namespace)
  }

  delete (key: string): void {
    for (const grant of this.#bindings.get(key) ?? []) this.#remove(grant)
    this.#bindings.delete(key)
  }

  /** False if the binding has granted this to the same subject before. */
  #add (scope: Scope, grant: Grant): boolean {
    this.looked++
    const [subjects, key] = scope.placeOf(grant)
    const role = roleOf(grant)
    const roles = subjects.get(key)
    const granted = roles?.get(role)
    if (roles === undefined) subjects.set(key, new Map([[role, grant]]))
    else if (granted === undefined) roles.set(role, grant)
    else if (granted instanceof Map) {
      if (granted.has(grant.binding)) return false
      granted.set(grant.binding, grant)
    } else {
      if (granted.binding === grant.binding) return false
      roles.set(role, new Map([[granted.binding, granted], [grant.binding, grant]]))
    }
    return true
  }

  #remove (grant: Grant): void {
    this.looked++
    const scope = this.#scopes.get(grant.namespace)
    if (scope === undefined) return
    const [subjects, key] = scope.placeOf(grant)
    const roles = subjects.get(key)
    const role = roleOf(grant)
    const granted = roles?.get(role)
    if (granted instanceof Map && granted.size > 1) { granted.delete(grant.binding); return }
    roles?.delete(role)
    if (roles?.size === 0) subjects.delete(key)
    if (scope.isEmpty) this.#scopes.delete(grant.namespace)
  }

  /** Grants of a user in other namespaces, one for each role; only some of them, if the cluster has many namespaces. */
  elsewhere (user: UserInfo, namespace: string): Grant[] {
    const grants: Grant[] = []
    let left = MAX_ELSEWHERE
    for (const [other, scope] of this.#scopes) {
      if (left-- === 0) break
      if (other !== '' && other !== namespace) this.#collect(scope, user, grants)
    }
    return grants
  }

  /** The cluster-wide grants of a user, then those in the namespace, if given: one for each role and subject. */
  of (user: UserInfo, namespace: string): Grant[] {
    const grants: Grant[] = []
    this.#collect(this.#scopes.get(''), user, grants)
    if (namespace !== '') this.#collect(this.#scopes.get(namespace), user, grants)
    return grants
  }

  #collect (scope: Scope | undefined, { username, groups }: UserInfo, grants: Grant[]): void {
    if (scope === undefined) return
    this.#first(scope.users.get(username), grants)
    // A review may name the same group many times.
    const distinct = groups.length > MANY_GROUPS ? new Set(groups) : groups
    for (const group of distinct) this.#first(scope.groups.get(group), grants)
    this.#first(scope.unknown.get(''), grants)
  }

  #first (roles: Roles | undefined, grants: Grant[]): void {
    if (roles === undefined) return
    for (const granted of roles.values()) {
      this.looked++
      const [first] = granted instanceof Map ? granted.values() : [granted]
      if (first !== undefined) grants.push(first)
    }
  }
}
