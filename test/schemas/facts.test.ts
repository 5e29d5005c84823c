/**
 * Every declaration against the facts about the API types, which stand beside the checkout where the project is built.
 * Where they do not, the part of them that clients of ClusterRoleBinding depend on is held here.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import type { Test as TestBase } from 'tap'
import type { Field, Message } from '../../schemas/declare.js'
import * as config from '../../schemas/core/config.js'
import * as namespace from '../../schemas/core/namespace.js'
import * as references from '../../schemas/core/references.js'
import * as serviceAccount from '../../schemas/core/service-account.js'
import * as meta from '../../schemas/meta/v1.js'
import * as rbac from '../../schemas/rbac/v1.js'
import * as runtime from '../../schemas/runtime.js'
import { resources } from '../../schemas/resources.js'

const root = resolve(import.meta.dirname, '../../..')
const FACTS = resolve(root, '../shared/facts')

interface FactField {
  name: string, type: string, repeated: boolean, proto: number | null
  required?: boolean, omitempty?: boolean, pointer?: boolean, inline?: boolean
  enum?: string[], enumClosed?: boolean, immutable?: boolean
  default?: unknown, defaultFrom?: string, listType?: string, listMapKeys?: string[], mapType?: string, structType?: string
  patchStrategy?: string, patchMergeKey?: string
}
interface FactMessage { kind?: string, list?: boolean, structType?: string, special?: string, protobuf?: boolean, fields: FactField[] }
interface FactFile { openapiPrefix: string, group: string | null, version: string | null, messages: Record<string, FactMessage> }

const declared = new Map<string, Message>()
for (const module of [meta, rbac, runtime, config, namespace, references, serviceAccount]) {
  for (const value of Object.values(module) as unknown[]) {
    if (typeof value === 'object' && value !== null && 'openapiName' in value) declared.set((value as Message).name, value as Message)
  }
}

/** A declared field in the words of the facts. */
function asFact (name: string, field: Field): FactField {
  const element = typeof field.of === 'string' ? field.of : (typeof field.of === 'function' ? field.of() : field.of).name.replace('meta.v1.Anything', 'any')
  return {
    name,
    type: field.shape === 'map' ? `map<string,${element}>` : element,
    repeated: field.shape === 'list',
    proto: field.number,
    ...(field.required === true ? { required: true } : { required: false, ...(field.written === true || field.shape === 'inline' ? {} : { omitempty: true }) }),
    ...(field.pointer === true ? { pointer: true } : {}),
    ...(field.shape === 'inline' ? { inline: true } : {}),
    ...(field.values === undefined ? {} : { enum: [...field.values] }),
    ...(field.closed === true ? { enumClosed: true } : {}),
    ...(field.immutable === undefined ? {} : { immutable: true }),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.listType === undefined ? {} : { listType: field.listType }),
    ...(field.listMapKeys === undefined ? {} : { listMapKeys: [...field.listMapKeys] }),
    ...(field.mapType === undefined ? {} : { mapType: field.mapType }),
    ...(field.structType === undefined ? {} : { structType: field.structType }),
    ...(field.patchStrategy === undefined ? {} : { patchStrategy: field.patchStrategy }),
    ...(field.patchMergeKey === undefined ? {} : { patchMergeKey: field.patchMergeKey })
  }
}

const COMPARED = new Set(['name', 'type', 'repeated', 'proto', 'required', 'omitempty', 'pointer', 'inline', 'enum', 'enumClosed', 'immutable', 'default', 'listType', 'listMapKeys', 'mapType', 'structType', 'patchStrategy', 'patchMergeKey'])
const relevant = (field: FactField) => Object.fromEntries(Object.entries(field).filter(([key, value]) => COMPARED.has(key) && !(key === 'enumClosed' && value === false)))

/** The interface says roleRef.apiGroup is required; the facts, which yield to it, have it defaulted. */
const DEVIATIONS: Record<string, (field: FactField) => void> = {
  'rbac.v1.RoleRef.apiGroup': field => { delete field.default }
}

function compare (t: TestBase, name: string, fact: FactMessage): void {
  const message = declared.get(name)
  if (!t.ok(message, `${name} is declared`) || message === undefined) return
  if (fact.special !== undefined && fact.special !== 'protobuf only') {
    t.ok(message.special, `${name} has a form of its own`)
    t.same(Object.entries(message.fields).map(([field, { number }]) => [field, number]), fact.fields.map(field => [field.name, field.proto]), `${name}: numbers`)
    return
  }
  const expected = fact.fields.map(field => {
    const copy = { ...field }
    DEVIATIONS[`${name}.${field.name}`]?.(copy)
    if (fact.special === 'protobuf only') copy.omitempty = true
    return relevant(copy)
  })
  t.same(Object.entries(message.fields).map(([field, value]) => relevant(asFact(field, value))), expected, `${name}: fields, in order`)
  t.equal(message.type?.kind, fact.kind, `${name}: kind`)
  t.equal(message.structType, fact.structType, `${name}: struct type`)
  t.equal(message.protobuf, fact.protobuf !== false, `${name}: protobuf`)
  for (const [field, { text }] of Object.entries(message.fields)) t.match(text, /\S.*\.$/, `${name}.${field} is described`)
}

const read = <T>(file: string) => JSON.parse(readFileSync(resolve(FACTS, file), 'utf8')) as T
const present = existsSync(resolve(FACTS, 'scalars.json'))

t.test('what clients of ClusterRoleBinding depend on', async t => {
  const numbers = (message: Message) => Object.entries(message.fields).map(([name, field]) => `${name}=${field.number}`).join(' ')
  t.equal(numbers(rbac.ClusterRoleBinding), 'metadata=1 subjects=2 roleRef=3')
  t.equal(numbers(rbac.Subject), 'kind=1 apiGroup=2 name=3 namespace=4')
  t.equal(numbers(rbac.RoleRef), 'apiGroup=1 kind=2 name=3')
  t.equal(numbers(meta.ObjectMeta), 'name=1 generateName=2 namespace=3 selfLink=4 uid=5 resourceVersion=6 generation=7 creationTimestamp=8 deletionTimestamp=9 deletionGracePeriodSeconds=10 labels=11 annotations=12 ownerReferences=13 finalizers=14 clusterName=15 managedFields=17')
  t.equal(numbers(meta.ListMeta), 'selfLink=1 resourceVersion=2 continue=3 remainingItemCount=4')
  t.equal(numbers(meta.Status), 'metadata=1 status=2 message=3 reason=4 details=5 code=6')
  const bindings = resources.find(({ plural }) => plural === 'clusterrolebindings')
  t.match(bindings, { group: 'rbac.authorization.orch.io', version: 'v1', kind: 'ClusterRoleBinding', listKind: 'ClusterRoleBindingList', namespaced: false, createOnUpdate: true, storageVersionHash: 'FC13CUzF/H8=' })
})

const skip = present ? false : 'the facts are not beside this checkout'

t.test('declarations agree with the facts', { skip }, async t => {
  const whole = [['meta.v1', 'meta.v1.json'], ['runtime', 'runtime.json'], ['rbac.v1', 'rbac.authorization.orch.io.v1.json']] as const
  /* Declared with the types that use them. */
  const later = new Set(['meta.v1.Duration', 'meta.v1.Patch'])
  for (const [name, file] of whole) {
    const facts = read<FactFile>(file)
    for (const [message, fact] of Object.entries(facts.messages)) {
      const full = `${name}.${message}`
      if (later.has(full) || (fact.list === true && name === 'rbac.v1')) continue
      compare(t, full, fact)
      t.equal(declared.get(full)?.openapiName, `${facts.openapiPrefix}.${message}`)
    }
  }
  const core = read<FactFile>('core.v1.json')
  const names = [...declared.keys()].filter(name => name.startsWith('core.v1.'))
  t.equal(names.length, 9)
  for (const name of names) {
    const fact = core.messages[name.slice('core.v1.'.length)]
    if (t.ok(fact, `${name} is a type of the facts`) && fact !== undefined) compare(t, name, fact)
  }
})

t.test('lists are derived as the facts have them', { skip }, async t => {
  const files: Record<string, FactFile> = { '': read('core.v1.json'), 'rbac.authorization.orch.io': read('rbac.authorization.orch.io.v1.json') }
  for (const resource of resources) {
    const fact = files[resource.group]?.messages[resource.listKind]
    t.same(fact?.fields.map(({ name, proto, type }) => [name, proto, type]), [['metadata', 1, 'meta.v1.ListMeta'], ['items', 2, resource.message.name]], resource.listKind)
  }
})

interface FactResource {
  group: string, version: string, resource: string, singular: string, kind: string, listKind: string, message: string, namespaced: boolean
  shortNames: string[], categories: string[], verbs: string[], deleteReturns: string, createOnUpdate: boolean, unconditionalUpdate: boolean
  storage: { version: string, prefix: string }, storageVersionHash: string
  subresources: Array<{ name: string, verbs: string[], kind: string, kindGroup?: string, kindVersion?: string }>
}

t.test('resources agree with the facts', { skip }, async t => {
  const facts = read<{ resources: FactResource[] }>('resources.json').resources
  for (const definition of resources) {
    const fact = facts.find(({ group, version, resource }) => group === definition.group && version === definition.version && resource === definition.plural)
    if (!t.ok(fact, definition.plural) || fact === undefined) continue
    const { message, singular, kind, listKind, namespaced, shortNames, categories, verbs, createOnUpdate, unconditionalUpdate, storageVersionHash } = definition
    t.same({ message: message.name, singular, kind, listKind, namespaced, shortNames, categories, verbs, createOnUpdate, unconditionalUpdate, storageVersionHash },
      { message: fact.message, singular: fact.singular, kind: fact.kind, listKind: fact.listKind, namespaced: fact.namespaced, shortNames: fact.shortNames, categories: fact.categories, verbs: fact.verbs, createOnUpdate: fact.createOnUpdate, unconditionalUpdate: fact.unconditionalUpdate, storageVersionHash: fact.storageVersionHash })
    t.same([definition.storageVersion, definition.storagePrefix], [fact.storage.version, fact.storage.prefix])
    t.equal(definition.deleteReturns, fact.deleteReturns === 'meta.v1.Status' ? 'Status' : 'Object')
    t.same(definition.subresources.map(({ name, verbs, kind, group, version }) => ({ name, verbs, kind: kind ?? definition.kind, group, version })),
      fact.subresources.map(({ name, verbs, kind, kindGroup, kindVersion }) => ({ name, verbs, kind, group: kindGroup, version: kindVersion })))
  }
})

t.test('columns and selectable fields agree with the facts', { skip }, async t => {
  const { tables } = read<{ tables: Array<{ resources: string[], table: string, columns: Array<{ name: string, type: string, format: string, priority: number }> }> }>('table-columns.json')
  const selectors = read<{ resources: Record<string, { labels: Record<string, string> }> }>('field-selectors.json')
  for (const definition of resources) {
    const name = [definition.plural, definition.version, ...(definition.group === '' ? [] : [definition.group])].join('.')
    const fact = tables.find(table => table.resources.includes(name))
    if (!t.ok(fact, name) || fact === undefined) continue
    if (fact.table === 'default') t.equal(definition.columns, undefined, `${name} has the default table`)
    else t.same(definition.columns?.map(({ name, type, format, priority }) => ({ name, type, format, priority })), fact.columns.map(({ name, type, format, priority }) => ({ name, type, format, priority })))
    t.same(Object.keys(definition.selectableFields ?? {}), Object.keys(selectors.resources[definition.plural]?.labels ?? {}))
  }
})
