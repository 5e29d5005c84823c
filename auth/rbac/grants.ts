/** Grants of roles by subject, so that a decision reads only the user's own. */
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

const USER = 'u:'
const GROUP = 'g:'
/** Key of invalid subjects; their faults are reported to every user. */
const UNKNOWN = '?'

function keyOf ({ kind, name, namespace }: Subject, at: string): string {
  switch (kind) {
    case 'User': return USER + name
    case 'Group': return GROUP + name
    case 'ServiceAccount': return `${USER}system:serviceaccount:${namespace || at}:${name}`
    default: return UNKNOWN
  }
}

function faultOf ({ kind, name, namespace }: Subject, at: string): string | undefined {
  if (kind !== 'User' && kind !== 'Group' && kind !== 'ServiceAccount') return `unrecognized subject kind ${JSON.stringify(kind)}`
  if (kind !== 'ServiceAccount' && namespace) return `${kind} ${JSON.stringify(name)} has a namespace, ${JSON.stringify(namespace)}`
  return kind === 'ServiceAccount' && !namespace && at === '' ? `ServiceAccount ${JSON.stringify(name)} has no namespace` : undefined
}

export class Grants {
  readonly #bySubject = new Map<string, Grant[]>()
  /** Subject keys by the binding's key in the store. */
  readonly #byBinding = new Map<string, string[]>()

  /** @param key the binding's key in the store */
  set (key: string, { metadata: { name = '', namespace = '' }, roleRef, subjects = [] }: Binding): void {
    this.delete(key)
    const keys: string[] = []
    for (const subject of subjects) {
      const of = keyOf(subject, namespace)
      const grant: Grant = { binding: name, namespace, roleRef, subject, fault: faultOf(subject, namespace) }
      const grants = this.#bySubject.get(of)
      if (grants === undefined) this.#bySubject.set(of, [grant])
      else grants.push(grant)
      keys.push(of)
    }
    this.#byBinding.set(key, keys)
    this.#owners.set(key, { name, namespace })
  }

  readonly #owners = new Map<string, { name: string, namespace: string }>()

  delete (key: string): void {
    const owner = this.#owners.get(key)
    if (owner === undefined) return
    for (const of of new Set(this.#byBinding.get(key))) {
      const remaining = this.#bySubject.get(of)?.filter(({ binding, namespace }) => binding !== owner.name || namespace !== owner.namespace) ?? []
      if (remaining.length > 0) this.#bySubject.set(of, remaining)
      else this.#bySubject.delete(of)
    }
    this.#byBinding.delete(key)
    this.#owners.delete(key)
  }

  /** All grants of a user in other namespaces. */
  elsewhere ({ username, groups }: UserInfo, namespace: string): Grant[] {
    return [USER + username, ...groups.map(group => GROUP + group)]
      .flatMap(key => this.#bySubject.get(key) ?? [])
      .filter(grant => grant.namespace !== '' && grant.namespace !== namespace)
  }

  /** The cluster-wide grants of a user, then those in the namespace, if given. */
  of ({ username, groups }: UserInfo, namespace: string): Grant[] {
    const clusterWide: Grant[] = []
    const inNamespace: Grant[] = []
    const collect = (key: string): void => {
      for (const grant of this.#bySubject.get(key) ?? []) {
        if (grant.namespace === '') clusterWide.push(grant)
        else if (grant.namespace === namespace) inNamespace.push(grant)
      }
    }
    collect(USER + username)
    for (const group of groups) collect(GROUP + group)
    collect(UNKNOWN)
    return inNamespace.length === 0 ? clusterWide : [...clusterWide, ...inNamespace]
  }
}
