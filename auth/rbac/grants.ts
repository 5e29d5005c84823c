/** Who is granted which role, by whom they are: kept by subject, so that a question looks at nothing but the asker's own. */
import type { ClusterRoleBinding } from '../../schemas/api/rbac/clusterrolebindings.js'
import type { Subject } from '../../schemas/api/rbac/bindings.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

/** What the two kinds of bindings have in common. */
export type Binding = ClusterRoleBinding

export interface Grant {
  readonly binding: string
  /** '' where it holds everywhere. */
  readonly namespace: string
  readonly roleRef: { readonly kind: string, readonly name: string }
  readonly subject: Subject
  /** Why it grants nothing. */
  readonly fault: string | undefined
}

const USER = 'u:'
const GROUP = 'g:'
/** Of subjects that are nobody: whoever asks is told. */
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
  /** By key of the binding in the store: the keys of its subjects. */
  readonly #byBinding = new Map<string, string[]>()

  /** @param key of the binding in the store */
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
      const left = this.#bySubject.get(of)?.filter(({ binding, namespace }) => binding !== owner.name || namespace !== owner.namespace) ?? []
      if (left.length > 0) this.#bySubject.set(of, left)
      else this.#bySubject.delete(of)
    }
    this.#byBinding.delete(key)
    this.#owners.delete(key)
  }

  /** All that holds for them in namespaces but this one. */
  elsewhere ({ username, groups }: UserInfo, namespace: string): Grant[] {
    return [USER + username, ...groups.map(group => GROUP + group)]
      .flatMap(key => this.#bySubject.get(key) ?? [])
      .filter(grant => grant.namespace !== '' && grant.namespace !== namespace)
  }

  /** What holds for them everywhere, and in the namespace where one is given; the former first. */
  of ({ username, groups }: UserInfo, namespace: string): Grant[] {
    const everywhere: Grant[] = []
    const there: Grant[] = []
    const look = (key: string): void => {
      for (const grant of this.#bySubject.get(key) ?? []) {
        if (grant.namespace === '') everywhere.push(grant)
        else if (grant.namespace === namespace) there.push(grant)
      }
    }
    look(USER + username)
    for (const group of groups) look(GROUP + group)
    look(UNKNOWN)
    return there.length === 0 ? everywhere : [...everywhere, ...there]
  }
}
