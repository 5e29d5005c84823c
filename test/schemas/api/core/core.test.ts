import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import t from 'tap'
import { toJson } from '../../../../schemas/codec/json/encode.js'
import type { Static } from '../../../../schemas/language/declare.js'
import { decode } from '../../../../schemas/language/decode.js'
import { applyDefaults } from '../../../../schemas/language/defaults.js'
import { validateObject, validateUpdate } from '../../../../schemas/language/validation.js'
import type { ApiObject } from '../../../../schemas/meta/api-object.js'
import type { Representation } from '../../../../schemas/resource.js'
import type { FieldError } from '../../../../schemas/status.js'
import { configMaps, namespaces, secrets, serviceAccounts } from '../../../stored.js'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const short = (errors: FieldError[]) => errors.map(({ type, field }) => `${type.replace('FieldValue', '')} ${field}`)
function make<T extends ApiObject> (
  definition: Representation<T>, more: object & { readonly metadata?: object, readonly [name: string]: unknown }
): T {
  const metadata = { name: 'n', ...(definition.namespaced ? { namespace: 'd' } : {}), ...more.metadata }
  const { object } = decode(definition.message, { ...more, metadata })
  applyDefaults(definition.message, object)
  return object
}
const check = (definition: Representation, more: Record<string, unknown>) =>
  short(validateObject(definition, make(definition, more)))

t.test('a namespace carries its name as a label and is Active', async t => {
  const object = make(namespaces, { metadata: { labels: { a: 'b', 'orch.io/metadata.name': 'wrong' } } })
  t.same(object.metadata.labels, { a: 'b', 'orch.io/metadata.name': 'n' })
  t.equal(object.status.phase, 'Active')
  const unnamed = decode(namespaces.message, { metadata: { generateName: 'n-' } }).object
  applyDefaults(namespaces.message, unnamed)
  t.equal(unnamed.metadata.labels, undefined, 'not before it has a name')
})

t.test('finalizers and phases of a namespace', async t => {
  t.same(check(namespaces, { spec: { finalizers: ['orch', 'example.com/x'] } }), [])
  t.same(check(namespaces, { spec: { finalizers: ['other'] } }), ['Invalid spec.finalizers'])
  t.same(check(namespaces, { status: { phase: 'Gone' } }), [], 'the status has rules of its own')
})

t.test('a created namespace is held by the server, its status is not the client\'s', async t => {
  const object = make(namespaces, {
    status: { phase: 'Terminating', conditions: [{ type: 'x', status: 'True' }] }, spec: { finalizers: ['a/b'] }
  })
  namespaces.type.strategy.prepareForCreate?.(object, undefined, DEFAULT_GATES)
  t.same(object.spec.finalizers, ['a/b', 'orch'])
  t.same(object.status, { phase: 'Active' })
  namespaces.type.strategy.prepareForCreate?.(object, undefined, DEFAULT_GATES)
  t.same(object.spec.finalizers, ['a/b', 'orch'], 'once')
})

t.test('keys of a ConfigMap become file names, so they are checked', async t => {
  t.same(check(configMaps, { data: { 'a.b-c_D': 'x' }, binaryData: { other: base64('x') } }), [])
  for (const key of ['', 'a/b', '.', '..', '..x', 'a b', 'x'.repeat(254)]) {
    t.same(check(configMaps, { data: { [key]: 'x' } }), [`Invalid data[${key}]`], key.slice(0, 10))
  }
  t.same(check(configMaps, { data: { k: 'x' }, binaryData: { k: '' } }), ['Invalid data[k]'])
})

t.test('a ConfigMap holds at most one MiB', async t => {
  const half = 'x'.repeat(512 * 1024)
  t.same(check(configMaps, { data: { a: half, b: half } }), [])
  t.same(check(configMaps, { data: { a: half }, binaryData: { b: base64(`${half}x`) } }), ['TooLong []'])
})

t.test('immutable config maps and secrets cannot be changed', async t => {
  const update = (definition: Representation, object: Record<string, unknown>, old: Record<string, unknown>) =>
    short(validateUpdate(definition, make(definition, object), make(definition, old)))
  t.same(update(configMaps, { data: { a: '2' } }, { data: { a: '1' } }), [])
  t.same(update(configMaps, { data: { a: '1' }, immutable: true }, { data: { a: '1' } }), [])
  const frozen = { data: { a: '1' }, binaryData: { b: 'AA==' }, immutable: true }
  t.same(update(configMaps, { ...frozen, metadata: { labels: { x: 'y' } } }, frozen), [])
  t.same(
    update(configMaps, { data: { a: '2' } }, frozen), ['Forbidden immutable', 'Forbidden data', 'Forbidden binaryData']
  )
  t.same(update(secrets, { data: {}, immutable: true }, { data: { a: 'AA==' }, immutable: true }), ['Forbidden data'])
  t.same(update(secrets, { type: 'example.com/x' }, {}), ['Invalid type'], 'the type of a secret never changes')
})

t.test('texts of a Secret are merged into its data and never answered', async t => {
  const object = make(secrets, {
    data: { a: base64('old'), b: base64('kept') }, stringData: { a: 'new', c: 'ü', __proto__: 'x' }
  })
  t.same({ ...object.data }, { a: base64('new'), b: base64('kept'), c: base64('ü') })
  t.notOk('stringData' in object)
  t.equal(object.type, 'Opaque')
  t.notMatch(toJson(secrets.message, object), 'stringData')
  applyDefaults(secrets.message, object)
  t.equal(object.data?.a, base64('new'), 'again changes nothing')
})

t.test('a Secret has what its type needs', async t => {
  const typed = (type: string, data: Record<string, string>, metadata = {}) =>
    check(secrets, { type: `orch.io/${type}`, metadata, stringData: data })
  t.same(typed('service-account-token', {}), ['Required metadata.annotations[orch.io/service-account.name]'])
  t.same(typed('service-account-token', {}, { annotations: { 'orch.io/service-account.name': 's' } }), [])
  t.same(typed('dockercfg', {}), ['Required data[.dockercfg]'])
  t.same(typed('dockercfg', { '.dockercfg': '{}' }), [])
  t.same(typed('dockerconfigjson', { '.dockerconfigjson': '{' }), ['Invalid data[.dockerconfigjson]'])
  t.same(typed('basic-auth', {}), ['Required data[username]', 'Required data[password]'])
  t.same(typed('basic-auth', { username: '' }), [])
  t.same(typed('ssh-auth', { 'ssh-privatekey': '' }), ['Required data[ssh-privatekey]'])
  t.same(typed('tls', { 'tls.crt': '' }), ['Required data[tls.key]'])
  t.same(check(secrets, { type: 'anything', stringData: { a: 'x'.repeat(1024 * 1024 + 1) } }), ['TooLong data'])
})

t.test('a ServiceAccount refers to secrets by name', async t => {
  const object: Static<typeof serviceAccounts.message> = make(serviceAccounts, {
    secrets: [{ name: 's', namespace: 'elsewhere', uid: 'u' }]
  })
  serviceAccounts.type.strategy.prepareForCreate?.(object, undefined, DEFAULT_GATES)
  t.same(object.secrets, [{ name: 's' }])
  const empty: Static<typeof serviceAccounts.message> = make(serviceAccounts, { secrets: [{}] })
  serviceAccounts.type.strategy.prepareForCreate?.(empty, undefined, DEFAULT_GATES)
  t.strictSame(empty.secrets, [{}], 'a reference without a name is empty, not null')
  t.same(check(serviceAccounts, { metadata: { name: 'A' } }), ['Invalid metadata.name'])
})
