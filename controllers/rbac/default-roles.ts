/**
 * The default roles and bindings: made at start where they are missing, and given back what they have lost, unless the object
 * says that it is kept by hand (`rbac.authorization.orch.io/autoupdate: "false"`). Several servers may do so at once.
 */
import type { ApiObject } from '../../schemas/index.js'
import type { Subject } from '../../schemas/api/rbac/bindings.js'
import { isStatusError } from '../../schemas/status.js'
import { AtStart } from '../at-start.js'
import { serverContext } from '../../registry/operations/context.js'
import { create } from '../../registry/operations/create.js'
import { remove } from '../../registry/operations/delete.js'
import { current } from '../../registry/operations/rewrite.js'
import { change } from '../../registry/operations/update.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { BINDINGS } from '../../auth/rbac/defaults/bindings.js'
import { COMPONENT_ROLES } from '../../auth/rbac/defaults/component-roles.js'
import { CONTROLLER_ROLES } from '../../auth/rbac/defaults/controller-roles.js'
import { NAMESPACED_ROLES } from '../../auth/rbac/defaults/namespaced-roles.js'
import type { DefaultBinding, DefaultRole } from '../../auth/rbac/defaults/types.js'
import { USER_ROLES } from '../../auth/rbac/defaults/user-roles.js'
import { parseRule, type Rule, uncovered } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'
const AUTOUPDATE = `${GROUP}/autoupdate`
const LABELS = { 'orch.io/bootstrapping': 'rbac-defaults' }
const ANNOTATIONS = { [AUTOUPDATE]: 'true' }

interface Role extends ApiObject { rules?: Rule[] | undefined, aggregationRule?: object | undefined }
interface Binding extends ApiObject { subjects?: Subject[] | undefined, roleRef: { apiGroup: string, kind: string, name: string } }

export function parseSubject (text: string): Subject {
  const [kind = '', ...rest] = text.split(':')
  if (kind !== 'ServiceAccount') return { kind, apiGroup: GROUP, name: rest.join(':') }
  const [namespace = '', name = ''] = rest
  return { kind, name, namespace }
}

const metadata = (name: string, namespace: string, labels = {}): ApiObject['metadata'] =>
  ({ name, ...(namespace === '' ? {} : { namespace }), labels: { ...LABELS, ...labels }, annotations: { ...ANNOTATIONS } })

function roleOf ({ name, labels = {}, gathers, rules }: DefaultRole, namespace = ''): Role {
  return {
    kind: namespace === '' ? 'ClusterRole' : 'Role',
    apiVersion: `${GROUP}/v1`,
    metadata: metadata(name, namespace, labels),
    rules: rules.map(parseRule),
    ...(gathers === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [gathers]: 'true' } }] } })
  }
}

function bindingOf ({ name, namespace = '', role = name, kind = 'ClusterRole' as const, subjects }: Omit<DefaultBinding, 'kind'> & { kind?: 'Role' | 'ClusterRole' }): Binding {
  return {
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    apiVersion: `${GROUP}/v1`,
    metadata: metadata(name, namespace),
    subjects: subjects.map(parseSubject),
    roleRef: { apiGroup: GROUP, kind, name: role }
  }
}

/** Adds what is missing of labels and annotations; true when it did. */
function completeMetadata (there: ApiObject, wanted: ApiObject): boolean {
  let added = false
  for (const field of ['labels', 'annotations'] as const) {
    for (const [key, value] of Object.entries(wanted.metadata[field] ?? {})) {
      if (there.metadata[field]?.[key] === value) continue
      there.metadata[field] = { ...there.metadata[field], [key]: value }
      added = true
    }
  }
  return added
}

function completeRole (there: Role, wanted: Role): boolean {
  const added = completeMetadata(there, wanted)
  if (wanted.aggregationRule !== undefined) {
    if (there.aggregationRule !== undefined) return added
    there.aggregationRule = wanted.aggregationRule
    return true
  }
  const missing = uncovered(there.rules ?? [], wanted.rules ?? [])
  if (missing.length === 0) return added
  there.rules = [...there.rules ?? [], ...missing]
  return true
}

function completeBinding (there: Binding, wanted: Binding): boolean {
  const added = completeMetadata(there, wanted)
  const same = (one: Subject, other: Subject): boolean => one.kind === other.kind && one.name === other.name && (one.namespace ?? '') === (other.namespace ?? '')
  const missing = (wanted.subjects ?? []).filter(subject => !there.subjects?.some(one => same(one, subject)))
  if (missing.length === 0) return added
  there.subjects = [...there.subjects ?? [], ...missing]
  return true
}

export class DefaultRoles extends AtStart {
  protected async make (): Promise<void> {
    await this.each([...USER_ROLES, ...COMPONENT_ROLES, ...CONTROLLER_ROLES], role => this.#keep('clusterroles', roleOf(role), completeRole))
    await this.each(NAMESPACED_ROLES, role => this.#keep('roles', roleOf(role, role.namespace), completeRole))
    await this.each(BINDINGS, binding => this.#keep(binding.namespace === undefined ? 'clusterrolebindings' : 'rolebindings', bindingOf(binding), completeBinding))
  }

  async #keep<T extends ApiObject> (plural: string, wanted: T, complete: (there: T, wanted: T) => boolean): Promise<void> {
    const store = this.options.resources.find(GROUP, plural)
    if (store === undefined || this.closing.aborted) return
    const { name = '', namespace = '' } = wanted.metadata
    const context = serverContext(this.closing)
    const found = await current(store, store.key(namespace, name))
    if (found === undefined) {
      await create(store, wanted, { namespace, name: '' }, context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error // another server was faster
      })
      return
    }
    const there = found.copy() as T // of the same type
    if (there.metadata.annotations?.[AUTOUPDATE] === 'false') return
    if (await this.#replaced(store, there, wanted)) return
    if (!complete(there, wanted)) return
    await change(store, { namespace, name }, context, base => {
      const object = base.copy() as T
      complete(object, wanted)
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // somebody does not want it
    })
  }

  /** A binding to another role is another binding, as what it grants can never change. */
  async #replaced (store: ResourceStore, there: ApiObject & { roleRef?: { kind: string, name: string } }, wanted: ApiObject & { roleRef?: { kind: string, name: string } }): Promise<boolean> {
    if (wanted.roleRef === undefined || (there.roleRef?.kind === wanted.roleRef.kind && there.roleRef.name === wanted.roleRef.name)) return false
    const { name = '', namespace = '', uid } = there.metadata
    const context = serverContext(this.closing)
    await remove(store, { namespace, name }, { preconditions: { uid } }, context).catch((error: unknown) => { if (!isStatusError(error, 'NotFound')) throw error })
    await create(store, wanted, { namespace, name: '' }, context).catch((error: unknown) => { if (!isStatusError(error, 'AlreadyExists')) throw error })
    return true
  }
}
