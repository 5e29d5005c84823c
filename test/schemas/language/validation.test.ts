import t from 'tap'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import type { FieldError } from '../../../schemas/status.js'
import { apiPackage, int32, list, map, one, string } from '../../../schemas/language/declare.js'
import { validatePart, validateObject, validateMessage, validateUpdate } from '../../../schemas/language/validation.js'
import { metadata } from '../../../schemas/meta/object.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { resource, type Representation } from '../../../schemas/resource.js'
import { clusterRoleBindings, configMaps, namespaces } from '../../stored.js'

const { message, kind } = apiPackage('example.com', 'v1', 'com.example.v1')
const Part = message('Part', 'A part.', {
  mode: string(1, 'A mode.', { values: ['On', 'Off'], closed: true, required: true }),
  note: string(2, 'A note.', { required: true, mayBeEmpty: true }),
  hint: string(3, 'A hint.', { values: ['a', 'b'] }),
  level: int32(4, 'A level.', { minimum: 1, maximum: 9, pointer: true }),
  code: string(5, 'A code.', { pattern: /^[a-z]+$/, maxLength: 3 }),
  fixed: string(6, 'Never changes.', { immutable: true })
})
const Thing = kind('Thing', 'A thing.', {
  metadata,
  part: one(2, 'A part.', Part),
  parts: list(3, 'Parts.', Part),
  byName: map(4, 'Parts.', Part),
  frozen: list(5, 'Never changes.', 'string', { immutable: true })
})
const things = resource(Thing, { plural: 'things', namespaced: false }).stored

const good = { mode: 'On', note: '' }
const thing = (more: object = {}) => decode(Thing, { metadata: { name: 'n' }, part: good, ...more }).object
const short = (errors: FieldError[]) => errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)
const of = (definition: Representation, object: unknown) => short(validateObject(definition, object as ApiObject))

t.test('the rules of a declared field apply wherever its message occurs', async t => {
  t.same(of(things, thing()), [])
  t.same(of(things, thing({ part: {} })), ['Required part.mode'], 'a required text; one that may be empty may')
  t.same(of(things, thing({ part: { mode: 'Up' }, parts: [good, { mode: 'x' }], byName: { a: { mode: '' } } })),
    ['NotSupported part.mode', 'NotSupported parts[1].mode', 'Required byName[a].mode'])
  t.same(of(things, thing({ part: { ...good, hint: 'z' } })), [], 'an open enumeration takes anything')
  t.same(of(things, thing({ part: { ...good, level: 0 } })), ['Invalid part.level'])
  t.same(of(things, thing({ part: { ...good, level: 10 } })), ['Invalid part.level'])
  t.same(of(things, thing({ part: { ...good, code: 'ABCD' } })), ['TooLong part.code', 'Invalid part.code'])
  t.match(
    validateMessage(Part, decode(Part, { mode: 'Up' }).object),
    [{ type: 'FieldValueNotSupported', field: 'mode', value: 'Up', detail: 'supported values: "Off", "On"' }]
  )
})

t.test('immutable fields may not change, nor be set or unset later', async t => {
  const old = thing({ part: { ...good, fixed: 'a' }, frozen: ['x'] })
  const errors = (object: object) => short(validateUpdate(things, object as ApiObject, old))
  t.same(errors(thing({ part: { ...good, fixed: 'a' }, frozen: ['x'] })), [])
  t.same(errors(thing({ part: { ...good, fixed: 'b' }, frozen: ['x', 'y'] })), ['Invalid part.fixed', 'Invalid frozen'])
  t.same(errors(thing({ part: good })), ['Invalid part.fixed', 'Invalid frozen'])
  t.same(short(validateUpdate(things, thing({ frozen: [] }) as ApiObject, thing() as ApiObject)), [], 'empty is unset')
  t.same(
    errors(thing({ part: { fixed: 'a' }, frozen: ['x'] })), ['Required part.mode'],
    'an update is validated like a create'
  )
})

t.test('the rules of a ruled field are those of its type alone', async t => {
  const Ruled = message('Ruled', 'A part.', {
    mode: string(1, 'A mode.', { values: ['On'], closed: true, required: true, ruled: true }),
    parts: list(2, 'Parts.', Part, { ruled: true }),
    part: one(3, 'A part.', Part, { ruled: true, pointer: true })
  }, {
    validate: ({ parts = [], part }, at, report) => {
      parts.forEach(each => { validatePart(Part, each, `${at}parts`, report) })
      if (part !== undefined) report({ type: 'FieldValueForbidden', field: `${at}part`, detail: '' })
    }
  })
  const found = (object: object) => short(validateMessage(Ruled, decode(Ruled, object).object))
  t.same(found({ mode: 'Up' }), [])
  t.same(found({}), [])
  t.same(
    found({ parts: [good, { mode: 'Up' }] }), ['NotSupported parts.mode'], 'reported at the path that the rule names'
  )
  t.same(found({ part: { mode: 'Up' } }), ['Forbidden part'])
})

t.test('findings are bounded', async t => {
  t.equal(
    validateObject(things, thing({ parts: Array.from({ length: 1000 }, () => ({ mode: 'x' })) }) as ApiObject).length,
    100
  )
})

t.test('names follow the rule of their type', async t => {
  const named = (definition: Representation, name: string, more: object = {}) =>
    of(definition, decode(definition.message, { metadata: { name }, ...more }).object)
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
  for (const name of ['system:node', 'A b', '...', 'ü', 'x'.repeat(1000)]) {
    t.same(named(clusterRoleBindings, name, { roleRef }), [], name.slice(0, 10))
  }
  for (const name of ['.', '..', 'a/b', 'a%b']) {
    t.same(named(clusterRoleBindings, name, { roleRef }), ['Invalid metadata.name'], name)
  }
  for (const name of ['a', 'a-1', 'x'.repeat(63)]) t.same(named(namespaces, name), [], name)
  for (const name of ['A', 'a.b', '-a', 'a-', 'x'.repeat(64), 'a_b']) {
    t.same(named(namespaces, name), ['Invalid metadata.name'], name)
  }
  const inside = (name: string) =>
    of(configMaps, decode(configMaps.message, { metadata: { name, namespace: 'd' } }).object)
  for (const name of ['a', 'a.b-c.1', 'x'.repeat(253)]) t.same(inside(name), [], name.slice(0, 10))
  for (const name of ['A', 'a..b', '.a', 'a.', 'x'.repeat(254), 'a/b']) {
    t.same(inside(name), ['Invalid metadata.name'], name.slice(0, 10))
  }
  t.same(named(namespaces, ''), ['Required metadata.name'])
})

t.test('a prefix for names may end in a dash', async t => {
  const prefixed = (generateName: string) =>
    of(namespaces, decode(namespaces.message, { metadata: { name: 'n', generateName } }).object)
  t.same(prefixed('abc-'), [])
  t.same(prefixed('abc'), [])
  t.same(prefixed('Abc-'), ['Invalid metadata.generateName'])
  t.same(prefixed('-'), ['Invalid metadata.generateName'], 'the random suffix does not make it valid')
})

t.test('a namespace is required, or not allowed, as the type says', async t => {
  t.same(
    of(configMaps, decode(configMaps.message, { metadata: { name: 'n' } }).object), ['Required metadata.namespace']
  )
  t.same(
    of(configMaps, decode(configMaps.message, { metadata: { name: 'n', namespace: 'A' } }).object),
    ['Invalid metadata.namespace']
  )
  t.same(of(things, thing({ metadata: { name: 'n', namespace: 'd' } })), ['Forbidden metadata.namespace'])
})

t.test('the rest of the metadata', async t => {
  const check = (metadata: object) => of(things, thing({ metadata: { name: 'n', ...metadata } }))
  t.same(check({ labels: { app: 'web', 'example.com/x_y.z': '', a: 'A-1' } }), [])
  t.same(
    check({ labels: { '': 'x' } }), ['Invalid metadata.labels', 'Invalid metadata.labels'],
    'empty, and of no valid form'
  )
  t.same(check({ labels: { 'a/b/c': 'x', 'Example.com/x': 'y', 'a b': 'z' } }).length, 3)
  t.same(check({ labels: { app: 'a b', x: '-a', y: 'z'.repeat(64) } }).length, 3)
  t.same(check({ labels: { app: '-'.repeat(64) } }).length, 2, 'too long, and of no valid form')
  t.same(check({ annotations: { 'Example.com/Any': 'any text\n<>' } }), [])
  t.same(check({ annotations: { 'a b': '' } }), ['Invalid metadata.annotations'])
  t.same(check({ annotations: { a: 'x'.repeat(256 * 1024 - 1) } }), [])
  t.same(check({ annotations: { a: 'x'.repeat(256 * 1024) } }), ['TooLong metadata.annotations'])
  t.same(check({ finalizers: ['orphan', 'example.com/x'] }), [])
  t.same(check({ finalizers: ['orphan', 'foregroundDeletion'] }), ['Invalid metadata.finalizers'], 'one or the other')
  t.same(check({ finalizers: [''] }), [
    'Invalid metadata.finalizers', 'Invalid metadata.finalizers', 'Invalid metadata.finalizers[0]'
  ])
  t.same(check({ finalizers: ['x', 'a b/c'] }), ['Invalid metadata.finalizers[0]', 'Invalid metadata.finalizers'])
  t.same(check({ generation: -1 }), ['Invalid metadata.generation'])
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
  t.same(check({ ownerReferences: [{ ...owner, controller: true }, owner] }), [])
  t.same(
    check({ ownerReferences: [{}] }),
    ['apiVersion', 'kind', 'name', 'uid'].map(member => `Invalid metadata.ownerReferences.${member}`)
  )
  t.same(check({ ownerReferences: [{ ...owner, controller: true }, { ...owner, controller: true }] }), [
    'Invalid metadata.ownerReferences'
  ])
  t.same(check({ ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] }), [
    'Invalid metadata.ownerReferences.apiVersion'
  ])
  t.same(check({ ownerReferences: [{ ...owner, kind: 'Event' }] }), ['Invalid metadata.ownerReferences'])
  t.same(validateObject(
    things,
    thing({
      metadata: {
        name: 'n',
        ownerReferences: [
          { kind: 'A', name: 'a', uid: 'u', controller: true },
          { apiVersion: 'v1', kind: 'B', name: 'b', controller: true }
        ]
      }
    }) as ApiObject
  ).map(({ detail }) => detail), [
    'version must not be empty', 'uid must not be empty',
    'Only one reference can have Controller set to true. Found "true" in references for A/a and B/b'
  ])
  t.same(check({ managedFields: [{ manager: 'm', operation: 'Update', fieldsType: 'FieldsV1' }] }), [])
  t.same(check({ managedFields: [{ operation: 'Create', fieldsType: 'V2', manager: 'a\u0007' }] }), [
    'Invalid metadata.managedFields[0].operation', 'Invalid metadata.managedFields[0].fieldsType',
    'Invalid metadata.managedFields[0].manager'
  ])
  t.same(check({ managedFields: [{ operation: 'Apply', manager: 'x'.repeat(129) }] }), [
    'TooLong metadata.managedFields[0].manager'
  ])
})

t.test('immutable fields of the metadata', async t => {
  const meta = { name: 'n', uid: 'u', creationTimestamp: '2021-01-01T00:00:00Z', generation: 2 }
  const old = thing({ metadata: meta })
  const errors = (more: object, before = old) =>
    short(validateUpdate(things, thing({ metadata: { ...meta, ...more } }) as ApiObject, before as ApiObject))
  t.same(errors({ labels: { a: 'b' }, finalizers: ['a/b'], generation: 3 }), [])
  t.same(errors({ name: 'm' }), ['Invalid metadata.name'])
  t.same(errors({ uid: 'v' }), ['Invalid metadata.uid'])
  t.same(errors({ creationTimestamp: '2022-01-01T00:00:00Z' }), ['Invalid metadata.creationTimestamp'])
  t.same(errors({ deletionTimestamp: '2022-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 }), [
    'Invalid metadata.deletionTimestamp', 'Invalid metadata.deletionGracePeriodSeconds'
  ])
  t.same(errors({ generation: 1 }), ['Invalid metadata.generation'])
  const terminating = { deletionTimestamp: '2022-01-01T00:00:00Z', finalizers: ['a/b', 'c/d'] }
  const before = thing({ metadata: { ...meta, ...terminating } })
  t.same(errors({ ...terminating, finalizers: ['c/d'] }, before), [], 'finalizers may go')
  t.same(
    errors({ ...terminating, finalizers: ['d/d', 'a/b'] }, before), ['Forbidden metadata.finalizers'],
    'no new ones once it is terminating'
  )
})

t.test('defaults make their sample valid', async t => {
  const object = decode(clusterRoleBindings.message, {
    metadata: { name: 'n' },
    subjects: [{ kind: 'User', name: 'u' }],
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'r' }
  }).object
  t.same(of(clusterRoleBindings, object), ['NotSupported subjects[0].apiGroup'])
  applyDefaults(clusterRoleBindings.message, object)
  t.same(of(clusterRoleBindings, object), [])
})
