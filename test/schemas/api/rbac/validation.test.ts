import t from 'tap'
import { decode } from '../../../../schemas/language/decode.js'
import { applyDefaults } from '../../../../schemas/language/defaults.js'
import { validateObject, validateUpdate } from '../../../../schemas/language/validation.js'
import type { ApiObject } from '../../../../schemas/meta/api-object.js'
import type { Representation } from '../../../../schemas/resource.js'
import type { FieldError } from '../../../../schemas/status.js'
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../../../stored.js'

const GROUP = 'rbac.authorization.orch.io'
const ref = { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' }
const short = (errors: FieldError[]) => errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)
const make = (definition: Representation, more: object) => {
  const { object } = decode(definition.message, {
    metadata: { name: 'n', ...(definition.namespaced ? { namespace: 'd' } : {}) }, ...more
  })
  applyDefaults(definition.message, object)
  return object
}
const check = (definition: Representation, more: object) => short(validateObject(definition, make(definition, more)))

t.test('apiGroup of a subject defaults by its kind', async t => {
  const { subjects } = make(clusterRoleBindings, {
    roleRef: ref,
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'd' },
      { kind: 'Other', name: 'o' },
      { kind: 'User', name: 'v', apiGroup: 'x' }
    ]
  }) as ApiObject & { subjects: Array<{ apiGroup?: string }> }
  t.same(subjects.map(({ apiGroup }) => apiGroup), [GROUP, GROUP, undefined, undefined, 'x'])
})

t.test('roleRef is required, each part of it', async t => {
  t.same(check(clusterRoleBindings, {}), [
    'Required roleRef.apiGroup', 'Required roleRef.name', 'NotSupported roleRef.kind'
  ])
  t.same(check(clusterRoleBindings, { roleRef: { ...ref, apiGroup: '' } }), ['Required roleRef.apiGroup'])
  t.same(check(clusterRoleBindings, { roleRef: ref }), [])
})

t.test('the group of a roleRef is filled in within a namespace, and has to be said for the whole cluster', async t => {
  const { apiGroup: _, ...without } = ref
  for (const roleRef of [without, { ...ref, apiGroup: '' }]) {
    t.match(make(roleBindings, { roleRef }), { roleRef: ref })
    t.same(check(roleBindings, { roleRef }), [])
    t.same(check(clusterRoleBindings, { roleRef }), ['Required roleRef.apiGroup'])
  }
  t.same(check(roleBindings, {}), ['Required roleRef.name', 'NotSupported roleRef.kind'])
})

t.test('roleRef names a role there can be', async t => {
  t.same(check(clusterRoleBindings, { roleRef: { ...ref, kind: 'Role' } }), ['NotSupported roleRef.kind'])
  t.same(check(roleBindings, { roleRef: { ...ref, kind: 'Role' } }), [])
  t.same(check(roleBindings, { roleRef: { ...ref, kind: 'Pod' } }), ['NotSupported roleRef.kind'])
  t.same(check(roleBindings, { roleRef: { ...ref, apiGroup: 'other' } }), ['NotSupported roleRef.apiGroup'])
  t.same(check(roleBindings, { roleRef: { ...ref, name: 'a/b' } }), ['Invalid roleRef.name'])
})

t.test('roleRef never changes', async t => {
  const old = make(clusterRoleBindings, { roleRef: ref })
  const update = (more: object) => validateUpdate(clusterRoleBindings, make(clusterRoleBindings, more), old)
  t.match(update({ roleRef: { ...ref, name: 'edit' } }), [
    { type: 'FieldValueInvalid', field: 'roleRef', detail: 'cannot change roleRef' }
  ])
  t.same(update({ roleRef: ref, subjects: [{ kind: 'User', name: 'u' }] }), [])
})

t.test('subjects are of known kinds and say what their kind needs', async t => {
  const subject = (value: object) => check(clusterRoleBindings, { roleRef: ref, subjects: [value] })
  t.same(subject({ kind: 'User', name: 'any name: even this/%' }), [])
  t.same(subject({ kind: 'Group', name: 'g', namespace: 'd' }), [], 'a namespace here is left to the authorizer')
  t.same(subject({ kind: 'ServiceAccount', name: 's', namespace: 'd' }), [])
  t.same(subject({ kind: 'Robot', name: 'r' }), ['NotSupported subjects[0].kind'])
  t.same(subject({ name: 'r' }), ['NotSupported subjects[0].kind'])
  t.same(subject({ kind: 'User' }), ['Required subjects[0].name'])
  t.same(subject({ kind: 'ServiceAccount', name: 's' }), ['Required subjects[0].namespace'])
  t.same(subject({ kind: 'ServiceAccount', name: 'S:1', namespace: 'd' }), ['Invalid subjects[0].name'])
  t.same(subject({ kind: 'ServiceAccount', name: 's', namespace: 'd', apiGroup: GROUP }), [
    'NotSupported subjects[0].apiGroup'
  ])
  t.same(subject({ kind: 'User', name: 'u', apiGroup: 'x' }), ['NotSupported subjects[0].apiGroup'])
})

t.test('rules are about resources or about URLs', async t => {
  const rule = (definition: Representation, value: object) => check(definition, { rules: [value] })
  const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  for (const definition of [roles, clusterRoles]) {
    t.same(rule(definition, pods), [])
    t.same(rule(definition, { ...pods, verbs: [] }), ['Required rules[0].verbs'])
    t.same(rule(definition, { verbs: ['get'] }), ['Required rules[0].apiGroups', 'Required rules[0].resources'])
  }
  t.same(rule(clusterRoles, { verbs: ['get'], nonResourceURLs: ['/healthz'] }), [])
  t.same(rule(roles, { verbs: ['get'], nonResourceURLs: ['/healthz'] }), ['Invalid rules[0].nonResourceURLs'])
  t.same(rule(clusterRoles, { ...pods, nonResourceURLs: ['/healthz'] }), ['Invalid rules[0].nonResourceURLs'])
  t.same(check(clusterRoles, {}), [], 'no rules at all are fine')
})

t.test('an aggregation rule selects', async t => {
  const rule = (clusterRoleSelectors: unknown) => check(clusterRoles, { aggregationRule: { clusterRoleSelectors } })
  const at = 'aggregationRule.clusterRoleSelectors'
  t.same(rule([]), [`Required ${at}`])
  t.same(
    rule([
      {
        matchLabels: { a: 'b' },
        matchExpressions: [{ key: 'c', operator: 'In', values: ['d'] }, { key: 'e', operator: 'Exists' }]
      }
    ]),
    []
  )
  t.same(rule([{ matchLabels: { 'a b': 'c d' } }]), [
    `Invalid ${at}[0].matchLabels`, `Invalid ${at}[0].matchLabels`, `Invalid ${at}[0]`
  ])
  t.same(rule([
    {
      matchExpressions: [
        { key: 'a', operator: 'In' }, { key: 'b', operator: 'Exists', values: ['x'] }, { key: 'c', operator: 'Near' }
      ]
    }
  ]),
  [
      `Required ${at}[0].matchExpressions[0].values`, `Forbidden ${at}[0].matchExpressions[1].values`,
      `Invalid ${at}[0].matchExpressions[2].operator`, `Invalid ${at}[0]`
  ])
  t.same(rule([{ matchExpressions: [{ operator: 'Exists' }] }]), [
    `Invalid ${at}[0].matchExpressions[0].key`, `Invalid ${at}[0].matchExpressions[0].key`, `Invalid ${at}[0]`
  ])
})
