/**
 * Creates default roles and bindings at start-up and restores missing parts, except of objects annotated
 * `rbac.authorization.orch.io/autoupdate: "false"`. Several servers may do so concurrently.
 */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Subject } from '../../schemas/api/rbac/bindings.js'
import { isStatusError } from '../../schemas/status.js'
import { AtStart } from '../at-start.js'
import type { ControllerOptions } from '../controller.js'
import { serverContext } from '../../registry/write-context.js'
import { create } from '../../registry/verbs/create.js'
import { remove } from '../../registry/verbs/delete.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { DEFAULT_GATES } from '../../schemas/gates.js'
import { bindingsOf, clusterRolesOf, namespacedRolesOf } from '../../auth/rbac/defaults/index.js'
import type { DefaultBinding, DefaultRole } from '../../auth/rbac/defaults/types.js'
import { parseRule, type Rule, uncovered } from '../../auth/rbac/rules.js'

const GROUP = 'rbac.authorization.orch.io'
const AUTOUPDATE = `${GROUP}/autoupdate`
const LABELS = { 'orch.io/bootstrapping': 'rbac-defaults' }
const ANNOTATIONS = { [AUTOUPDATE]: 'true' }

interface Role extends ApiObject { rules?: Rule[] | undefined, aggregationRule?: object | undefined }
interface Binding extends ApiObject {
  subjects?: Subject[] | undefined, roleRef: { apiGroup: string, kind: string, name: string }
}

function parseSubject (text: string): Subject {
  const [kind = '', ...rest] = text.split(':')
  if (kind !== 'ServiceAccount') return { kind, apiGroup: GROUP, name: rest.join(':') }
  const [namespace = '', name = ''] = rest
  return { kind, name, namespace }
}

const metadata = (name: string, namespace: string, labels = {}): ApiObject['metadata'] =>
  ({
    name, ...(namespace === ''
      ? {}
      : { namespace }), labels: { ...LABELS, ...labels }, annotations: { ...ANNOTATIONS }
  })

function roleOf ({ name, labels = {}, aggregates, rules }: DefaultRole, namespace = ''): Role {
  return {
    kind: namespace === '' ? 'ClusterRole' : 'Role',
    apiVersion: `${GROUP}/v1`,
    metadata: metadata(name, namespace, labels),
    rules: rules.map(parseRule),
    ...(aggregates === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: 'true' } }] } })
  }
}

function bindingOf (
  { name, namespace = '', role = name, kind = 'ClusterRole' as const, subjects }: Omit<DefaultBinding, 'kind'> & {
    kind?: 'Role' | 'ClusterRole'
  }
): Binding {
  return {
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    apiVersion: `${GROUP}/v1`,
    metadata: metadata(name, namespace),
    subjects: subjects.map(parseSubject),
    roleRef: { apiGroup: GROUP, kind, name: role }
  }
}

/** Adds missing labels and annotations; true if there were any. */
function completeMetadata (existing: ApiObject, desired: ApiObject): boolean {
  let added = false
  for (const field of ['labels', 'annotations'] as const) {
    for (const [key, value] of Object.entries(desired.metadata[field] ?? {})) {
      if (existing.metadata[field]?.[key] === value) continue
      existing.metadata[field] = { ...existing.metadata[field], [key]: value }
      added = true
    }
  }
  return added
}

function completeRole (existing: Role, desired: Role): boolean {
  const added = completeMetadata(existing, desired)
  if (desired.aggregationRule !== undefined) {
    if (existing.aggregationRule !== undefined) return added
    existing.aggregationRule = desired.aggregationRule
    return true
  }
  const missing = uncovered(existing.rules ?? [], desired.rules ?? [])
  if (missing.length === 0) return added
  existing.rules = [...existing.rules ?? [], ...missing]
  return true
}

function completeBinding (existing: Binding, desired: Binding): boolean {
  const added = completeMetadata(existing, desired)
  const same = (one: Subject, other: Subject): boolean => one.kind === other.kind && one.name === other.name &&
    (one.namespace ?? '') === (other.namespace ?? '')
  const missing = (desired.subjects ?? []).filter(subject => !existing.subjects?.some(known => same(known, subject)))
  if (missing.length === 0) return added
  existing.subjects = [...existing.subjects ?? [], ...missing]
  return true
}

export interface DefaultRolesOptions extends ControllerOptions {
  /** All names of what a component makes: it may use either. */
  readonly namesOf: (own: string) => string[]
}

/** The role with either name of what components make. */
const withNames = (role: Role, both: (name: string) => string[]): Role => ({
  ...role,
  rules: role.rules?.map(rule =>
    rule.resourceNames === undefined ? rule : { ...rule, resourceNames: rule.resourceNames.flatMap(both) })
})
const withSubjects = (binding: Binding, both: (name: string) => string[]): Binding => ({
  ...binding,
  subjects: binding.subjects?.flatMap(subject =>
    subject.kind === 'ServiceAccount' ? both(subject.name).map(name => ({ ...subject, name })) : [subject])
})

export class DefaultRoles extends AtStart<DefaultRolesOptions> {
  protected async make (): Promise<void> {
    const { namesOf: both } = this.options
    const { gates } = this.options.resources.find(GROUP, 'clusterroles') ?? { gates: DEFAULT_GATES }
    await this.each(clusterRolesOf(gates), role =>
      this.#ensure('clusterroles', withNames(roleOf(role), both), completeRole))
    await this.each(namespacedRolesOf(gates), role =>
      this.#ensure('roles', withNames(roleOf(role, role.namespace), both), completeRole))
    await this.each(bindingsOf(gates), binding => {
      const plural = binding.namespace === undefined ? 'clusterrolebindings' : 'rolebindings'
      return this.#ensure(plural, withSubjects(bindingOf(binding), both), completeBinding)
    })
  }

  async #ensure<T extends ApiObject> (
    plural: string, desired: T, complete: (existing: T, desired: T) => boolean
  ): Promise<void> {
    const store = this.options.resources.find(GROUP, plural)
    if (store === undefined || this.closing.aborted) return
    const { name = '', namespace = '' } = desired.metadata
    const context = serverContext(this.closing)
    const entry = await current(store, store.keys.of(namespace, name))
    if (entry === undefined) {
      await create(store, desired, { namespace, name: '' }, context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error // created by another server
      })
      return
    }
    const existing = entry.copy() as T // of the same type
    if (existing.metadata.annotations?.[AUTOUPDATE] === 'false') return
    if (await this.#replaceIfNeeded(store, existing, desired)) return
    if (!complete(existing, desired)) return
    await change(store, { namespace, name }, context, base => {
      const object = base.copy() as T
      complete(object, desired)
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // deleted by a user
    })
  }

  /** Replaces a binding to another role, because roleRef is immutable. */
  async #replaceIfNeeded (
    store: ResourceStore, existing: ApiObject & { roleRef?: { kind: string, name: string } },
    desired: ApiObject & { roleRef?: { kind: string, name: string } }
  ): Promise<boolean> {
    if (desired.roleRef === undefined ||
      (existing.roleRef?.kind === desired.roleRef.kind && existing.roleRef.name === desired.roleRef.name)) return false
    const { name = '', namespace = '', uid } = existing.metadata
    const context = serverContext(this.closing)
    await remove(store, { namespace, name }, { preconditions: { uid } }, context)
      .catch((error: unknown) => { if (!isStatusError(error, 'NotFound')) throw error })
    await create(store, desired, { namespace, name: '' }, context)
      .catch((error: unknown) => { if (!isStatusError(error, 'AlreadyExists')) throw error })
    return true
  }
}
