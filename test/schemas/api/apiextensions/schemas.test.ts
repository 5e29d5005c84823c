/** Rules for schemas of new definitions, which must be structural. */
import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import t from 'tap'
import { created, creates, served, updated, updates } from '../rules.js'

const definitions = served('apiextensions.orch.io/v1', 'customresourcedefinitions')
const spec = (openAPIV3Schema: object) => ({
  group: 'example.com',
  scope: 'Cluster',
  names: { plural: 'things', kind: 'Thing' },
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
})
const VALID = { metadata: { name: 'things.example.com' }, spec: spec({ type: 'object' }) }
/** A schema that all versions share is reported once, in the spec. */
const AT = 'spec.validation.openAPIV3Schema'
const A = `${AT}.properties[a]`
const root = (schema: object) => ({ spec: spec(schema) })
const a = (schema: object) => root({ type: 'object', properties: { a: schema } })
const text = { type: 'string' }

creates(t, definitions, VALID, [
  [
    'what may be said',
    a({
      type: 'object',
      description: 'A.',
      properties: {
        b: { type: 'array', items: text },
        c: { 'x-orch-preserve-unknown-fields': true },
        d: { type: 'object', additionalProperties: text }
      }
    })
  ],
  ['an unknown type', a({ type: 'text' }), `NotSupported ${A}.type`],
  ['null as a type', a({ type: 'null' }), `NotSupported ${A}.type`, `Forbidden ${A}.type`],
  ['a reference', a({ $ref: '#/a' }), `Forbidden ${A}.$ref`],
  ['several schemas of items', a({ type: 'array', items: [text] }), `Forbidden ${A}.items`],
  ['items that all differ', a({ type: 'array', items: text, uniqueItems: true }), `Forbidden ${A}.uniqueItems`],
  [
    'properties beside others', a({ type: 'object', properties: { b: text }, additionalProperties: text }),
    `Forbidden ${A}.additionalProperties`
  ],
  ['which may be anything', a({ type: 'object', properties: { b: text }, additionalProperties: true })],
  [
    'unknown fields that are not kept', a({ ...text, 'x-orch-preserve-unknown-fields': false }),
    `Invalid ${A}.x-orch-preserve-unknown-fields`
  ],
  ['null at the root', root({ type: 'object', nullable: true }), `Forbidden ${AT}.nullable`],
  [
    'a default of the metadata',
    root({
      type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'a' } } } }
    }),
    `Forbidden ${AT}.properties[metadata].properties[name].default`
  ]
])

const list = (type: string, items: object, more: object = {}) =>
  a({ type: 'array', 'x-orch-list-type': type, items, ...more })
const item = (more: object = {}) => ({ type: 'object', required: ['k'], properties: { k: text }, ...more })
const keys = (...names: string[]) => ({ 'x-orch-list-map-keys': names })
creates(t, definitions, VALID, [
  ['items by key', list('map', item(), keys('k'))],
  ['without keys', list('map', item()), `Required ${A}.x-orch-list-map-keys`],
  ['with a key nobody has', list('map', item(), keys('z')), `Invalid ${A}.x-orch-list-map-keys`],
  ['with one twice', list('map', item(), keys('k', 'k')), `Invalid ${A}.x-orch-list-map-keys`],
  [
    'with one that may be missing', list('map', item({ required: [] }), keys('k')),
    `Required ${A}.items.properties[k].default`
  ],
  ['that are no objects', list('map', text, keys('k')), `Invalid ${A}.items.type`],
  ['keys of no map', list('set', text, keys('k')), `Invalid ${A}.x-orch-list-type`],
  ['keys of what is not said', a({ type: 'array', items: text, ...keys('k') }), `Required ${A}.x-orch-list-type`],
  ['a set of objects', list('set', item()), `Invalid ${A}.items.x-orch-map-type`],
  ['a set of whole objects', list('set', item({ 'x-orch-map-type': 'atomic' }))],
  ['a set with null', list('set', { ...text, nullable: true }), `Forbidden ${A}.items.nullable`],
  ['a list of another type', list('heap', text), `NotSupported ${A}.x-orch-list-type`],
  ['what is no list', a({ ...text, 'x-orch-list-type': 'atomic' }), `Invalid ${A}.type`],
  ['what is no object', a({ ...text, 'x-orch-map-type': 'atomic' }), `Invalid ${A}.type`],
  ['an unknown one', a({ type: 'object', 'x-orch-map-type': 'heap' }), `NotSupported ${A}.x-orch-map-type`],
  [
    'a set of lists that are sets', list('set', { type: 'array', items: text, 'x-orch-list-type': 'set' }),
    `Invalid ${A}.items.x-orch-list-type`
  ],
  [
    'a key that is an object', list('map', item({ properties: { k: { type: 'object' } } }), keys('k')),
    `Invalid ${A}.items.properties[k].type`
  ],
  [
    'a key that may be null', list('map', item({ properties: { k: { ...text, nullable: true } } }), keys('k')),
    `Forbidden ${A}.items.properties[k].nullable`
  ],
  [
    'a key with a default', list('map', item({ required: [], properties: { k: { ...text, default: 'a' } } }), keys('k'))
  ],
  ['no items of a map', a({ type: 'array', 'x-orch-list-type': 'map', ...keys('k') }), `Required ${A}.items`]
])

creates(t, definitions, VALID, [
  ['no type at the root', root({}), `Required ${AT}.type`],
  ['another one there', root(text), `Invalid ${AT}.type`],
  ['no type of a field', a({}), `Required ${A}.type`],
  ['no items', a({ type: 'array' }), `Required ${A}.items`],
  ['no type of items', a({ type: 'array', items: {} }), `Required ${A}.items.type`],
  [
    'anything at the root', root({ type: 'object', additionalProperties: true }), `Forbidden ${AT}.additionalProperties`
  ],
  ['an integer or a text', a({ 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, text] })],
  [
    'that is an object as well', a({ 'x-orch-int-or-string': true, 'x-orch-preserve-unknown-fields': true }),
    `Invalid ${A}.x-orch-preserve-unknown-fields`
  ],
  ['logic about values', a({ ...text, anyOf: [{ pattern: 'a' }, { minLength: 5 }], not: { enum: ['b'] } })],
  [
    'logic about types', a({ ...text, oneOf: [text, { description: 'b' }], not: { nullable: true } }),
    `Forbidden ${A}.oneOf[0].type`, `Forbidden ${A}.oneOf[1].description`, `Forbidden ${A}.not.nullable`
  ],
  [
    'logic about metadata', root({ type: 'object', allOf: [{ properties: { metadata: {} } }] }),
    `Forbidden ${AT}.allOf[0].properties[metadata]`, `Required ${AT}.properties[metadata]`
  ],
  [
    'logic about what is named',
    root({
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'object', properties: { b: text } } } },
      anyOf: [{ properties: { a: { items: { properties: { b: { minLength: 1 } } } } } }]
    })
  ],
  [
    'and about what is not',
    root({
      type: 'object',
      properties: { a: text },
      not: { properties: { a: { items: {} }, c: { not: { required: ['d'] } } } }
    }),
    `Required ${A}.items`,
    `Required ${AT}.properties[c]`
  ],
  ['logic about other properties', a({
    ...text, allOf: [{ additionalProperties: true }, { 'x-orch-int-or-string': true }, { title: 'a', default: 'b' }]
  }),
  ...['[0].additionalProperties', '[1].x-orch-int-or-string', '[2].title', '[2].default'].map(field =>
      `Forbidden ${A}.allOf${field}`)],
  [
    'an integer or a text, and more',
    a({ 'x-orch-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, text] }, { maxLength: 5 }] })
  ],
  [
    'but at its first place alone',
    a({ 'x-orch-int-or-string': true, allOf: [{ maxLength: 5 }, { anyOf: [{ type: 'integer' }] }] }),
    `Forbidden ${A}.allOf[1].anyOf[0].type`
  ],
  ['an expression', a({ ...text, pattern: '^[a-z]+$' })],
  ['that is none', a({ ...text, pattern: '[a' }), `Invalid ${A}.pattern`],
  ['nor within logic', a({ ...text, not: { pattern: '(?=a)' } }), `Invalid ${A}.not.pattern`],
  ['a dialect', root({ type: 'object', $schema: 'http://json-schema.org/schema#' }), `Invalid ${AT}`],
  [
    'which is told alone', root({ type: 'object', $schema: 'a', properties: { a: { ...text, uniqueItems: true } } }),
    `Forbidden ${A}.uniqueItems`
  ],
  [
    'a whole object within',
    a({ type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true })
  ],
  ['of which nothing is kept', a({ type: 'object', 'x-orch-embedded-resource': true }), `Required ${A}.properties`],
  [
    'names in the metadata',
    root({
      type: 'object',
      properties: {
        kind: text, apiVersion: text, metadata: { type: 'object', properties: { name: { ...text, maxLength: 10 } } }
      }
    })
  ],
  [
    'more of it',
    root({
      type: 'object',
      properties: {
        kind: { type: 'integer' }, metadata: { type: 'object', properties: { labels: { type: 'object' } } }
      }
    }),
    `Invalid ${AT}.properties[kind].type`,
    `Forbidden ${AT}.properties[metadata]`
  ]
])

const embedded = (properties: object, more: object = {}) =>
  a({ type: 'object', 'x-orch-embedded-resource': true, properties, ...more })
creates(t, definitions, VALID, [
  [
    'an object within metadata',
    embedded({
      metadata: { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
    }),
    `Forbidden ${A}.properties[metadata].x-orch-embedded-resource`
  ],
  [
    'metadata within that are a text', embedded({ metadata: text, kind: { type: 'integer' } }),
    `Invalid ${A}.properties[metadata].type`, `Invalid ${A}.properties[kind].type`
  ],
  [
    'objects within of any properties', embedded({}, { additionalProperties: text }),
    `Forbidden ${A}.additionalProperties`, `Required ${A}.properties`
  ],
  ['a text within', embedded({ b: text }, { type: 'string' }), `Invalid ${A}.type`],
  [
    'defaults of a map in metadata',
    embedded({
      metadata: {
        type: 'object', properties: { labels: { type: 'object', additionalProperties: { ...text, default: 'a' } } }
      }
    }),
    `Forbidden ${A}.properties[metadata].properties[labels].additionalProperties.default`
  ]
])

updates(t, definitions, { ...VALID, ...a(text) }, [
  ['what is changed is looked at', {}, a({ type: '' }), `Required ${A}.type`],
  ['types that were unknown before may be', a({ type: 'text' }), a({ type: 'text', description: 'b' })],
  ['sets of objects too', list('set', item()), list('set', item({ description: 'b' }))],
  [
    'and keys that may be missing', list('map', item({ required: [] }), keys('k')),
    list('map', item({ required: [], description: 'b' }), keys('k'))
  ],
  ['but not what has no structure', a({ type: null }), { metadata: { labels: { a: 'b' } } }, `Required ${A}.type`],
  [
    'unless everything is kept', { ...a({ type: null }), spec: { ...a({}).spec, preserveUnknownFields: true } },
    { metadata: { labels: { a: 'b' } } }
  ]
])

t.test('rules in CEL are taken away, but where there were some', async t => {
  const rules = (...names: string[]) => a({
    ...text, 'x-orch-validations': names.map(rule => ({ rule })), allOf: [{ 'x-orch-validations': [{ rule: 'b' }] }]
  })
  const none = created(definitions, { ...VALID, ...rules(' ', 'self != ""') }, DEFAULT_GATES)
  t.same(none.errors, [])
  t.notMatch(JSON.stringify(none.object), 'x-orch-validations')
  const body = (change: object) => ({ ...VALID, ...change })
  t.notMatch(
    JSON.stringify(updated(definitions, body(a(text)), body(rules('a')), '', DEFAULT_GATES).object),
    'x-orch-validations'
  )
  const kept = updated(definitions, body(rules('a')), body(rules(' ', 'self != ""')), '', DEFAULT_GATES)
  t.match(JSON.stringify(kept.object), 'x-orch-validations')
  t.same(kept.errors.map(({ field }) => field), [`${A}.x-orch-validations[0].rule`, `${A}.allOf[0].x-orch-validations`])
})
