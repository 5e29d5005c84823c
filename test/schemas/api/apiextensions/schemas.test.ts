/** What schemas of new definitions may say, and that they are structural. */
import t from 'tap'
import { created, creates, served, updates } from '../rules.js'

const definitions = served('apiextensions.orch.io/v1', 'customresourcedefinitions')
const spec = (openAPIV3Schema: object) => ({ group: 'example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] })
const VALID = { metadata: { name: 'things.example.com' }, spec: spec({ type: 'object' }) }
const AT = 'spec.versions[0].schema.openAPIV3Schema'
const A = `${AT}.properties[a]`
const root = (schema: object) => ({ spec: spec(schema) })
const a = (schema: object) => root({ type: 'object', properties: { a: schema } })
const text = { type: 'string' }

creates(t, definitions, VALID, [
  ['what may be said', a({ type: 'object', description: 'A.', properties: { b: { type: 'array', items: text }, c: { 'x-orch-preserve-unknown-fields': true }, d: { type: 'object', additionalProperties: text } } })],
  ['an unknown type', a({ type: 'text' }), `NotSupported ${A}.type`],
  ['null as a type', a({ type: 'null' }), `NotSupported ${A}.type`, `Forbidden ${A}.type`],
  ['a reference', a({ $ref: '#/a' }), `Forbidden ${A}.$ref`],
  ['several schemas of items', a({ type: 'array', items: [text] }), `Forbidden ${A}.items`],
  ['items that all differ', a({ type: 'array', items: text, uniqueItems: true }), `Forbidden ${A}.uniqueItems`],
  ['properties beside others', a({ type: 'object', properties: { b: text }, additionalProperties: text }), `Forbidden ${A}.additionalProperties`],
  ['which may be anything', a({ type: 'object', properties: { b: text }, additionalProperties: true })],
  ['unknown fields that are not kept', a({ ...text, 'x-orch-preserve-unknown-fields': false }), `Invalid ${A}.x-orch-preserve-unknown-fields`],
  ['null at the root', root({ type: 'object', nullable: true }), `Forbidden ${AT}.nullable`],
  ['a default of the metadata', root({ type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'a' } } } } }), `Forbidden ${AT}.properties[metadata].properties[name].default`]
])

const list = (type: string, items: object, more: object = {}) => a({ type: 'array', 'x-orch-list-type': type, items, ...more })
const item = (more: object = {}) => ({ type: 'object', required: ['k'], properties: { k: text }, ...more })
const keys = (...names: string[]) => ({ 'x-orch-list-map-keys': names })
creates(t, definitions, VALID, [
  ['items by key', list('map', item(), keys('k'))],
  ['without keys', list('map', item()), `Required ${A}.x-orch-list-map-keys`],
  ['with a key nobody has', list('map', item(), keys('z')), `Invalid ${A}.x-orch-list-map-keys`],
  ['with one twice', list('map', item(), keys('k', 'k')), `Invalid ${A}.x-orch-list-map-keys`],
  ['with one that may be missing', list('map', item({ required: [] }), keys('k')), `Required ${A}.items.properties[k].default`],
  ['that are no objects', list('map', text, keys('k')), `Invalid ${A}.items.type`],
  ['keys of no map', list('set', text, keys('k')), `Invalid ${A}.x-orch-list-type`],
  ['keys of what is not said', a({ type: 'array', items: text, ...keys('k') }), `Required ${A}.x-orch-list-type`],
  ['a set of objects', list('set', item()), `Invalid ${A}.items.x-orch-map-type`],
  ['a set of whole objects', list('set', item({ 'x-orch-map-type': 'atomic' }))],
  ['a set with null', list('set', { ...text, nullable: true }), `Forbidden ${A}.items.nullable`],
  ['a list of another type', list('heap', text), `NotSupported ${A}.x-orch-list-type`],
  ['what is no list', a({ ...text, 'x-orch-list-type': 'atomic' }), `Invalid ${A}.type`],
  ['what is no object', a({ ...text, 'x-orch-map-type': 'atomic' }), `Invalid ${A}.type`],
  ['a rule of nothing', a({ ...text, 'x-orch-validations': [{ rule: ' ' }, { rule: 'self != ""', message: ' ' }] }), `Required ${A}.x-orch-validations[0].rule`, `Invalid ${A}.x-orch-validations[1].message`]
])

creates(t, definitions, VALID, [
  ['no type at the root', root({}), `Required ${AT}.type`],
  ['another one there', root(text), `Invalid ${AT}.type`],
  ['no type of a field', a({}), `Required ${A}.type`],
  ['no items', a({ type: 'array' }), `Required ${A}.items`],
  ['no type of items', a({ type: 'array', items: {} }), `Required ${A}.items.type`],
  ['anything at the root', root({ type: 'object', additionalProperties: true }), `Forbidden ${AT}.additionalProperties`],
  ['an integer or a text', a({ 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, text] })],
  ['that is an object as well', a({ 'x-orch-int-or-string': true, 'x-orch-preserve-unknown-fields': true }), `Invalid ${A}.x-orch-preserve-unknown-fields`],
  ['logic about values', a({ ...text, anyOf: [{ pattern: 'a' }, { minLength: 5 }], not: { enum: ['b'] } })],
  ['logic about types', a({ ...text, oneOf: [text, { description: 'b' }], not: { nullable: true } }), `Forbidden ${A}.oneOf[0].type`, `Forbidden ${A}.oneOf[1].description`, `Forbidden ${A}.not.nullable`],
  ['logic about metadata', root({ type: 'object', allOf: [{ properties: { metadata: {} } }] }), `Forbidden ${AT}.allOf[0].properties[metadata]`],
  ['a whole object within', a({ type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true })],
  ['of which nothing is kept', a({ type: 'object', 'x-orch-embedded-resource': true }), `Required ${A}.properties`],
  ['names in the metadata', root({ type: 'object', properties: { kind: text, apiVersion: text, metadata: { type: 'object', properties: { name: { ...text, maxLength: 10 } } } } })],
  ['more of it', root({ type: 'object', properties: { kind: { type: 'integer' }, metadata: { type: 'object', properties: { labels: { type: 'object' } } } } }), `Invalid ${AT}.properties[kind].type`, `Forbidden ${AT}.properties[metadata]`]
])

updates(t, definitions, { ...VALID, ...a({}) }, [
  ['what was stored before may stay', {}, { metadata: { labels: { a: 'b' } } }],
  ['what is changed is looked at', {}, a({ description: 'b' }), `Required ${A}.type`]
])

t.test('findings of a schema that is not structural come in the order of their paths', async t => {
  const { errors } = created(definitions, { ...VALID, ...root({ properties: { b: {}, a: { type: 'array' } } }) })
  t.same(errors.map(({ field }) => field), [`${A}.items`, `${AT}.properties[b].type`, `${AT}.type`])
})
