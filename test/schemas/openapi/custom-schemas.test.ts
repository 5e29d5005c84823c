/** OpenAPI of schemas in definitions, where it says more than they do. */
import t from 'tap'
import { customSchema } from '../../../schemas/openapi/custom-schemas.js'
import type { JSONSchemaProps } from '../../../schemas/api/apiextensions/schemas.js'

const STANDARD = {
  metadata: { $ref: 'ObjectMeta' }, types: { apiVersion: { type: 'string' }, kind: { type: 'string' } }
}
const TYPES = [{ type: 'integer' }, { type: 'string' }]
const INT_OR_STRING = { 'x-orch-int-or-string': true } as const
const published = (part: JSONSchemaProps, swagger = false): Record<string, unknown> => {
  const { properties } = customSchema(
    { type: 'object', properties: { part } }, swagger, STANDARD
  ) as { properties: { part: Record<string, unknown> } }
  return properties.part
}

t.test('an integer or a text has its types, unless its author wrote them down or the document is Swagger', async t => {
  t.match(published(INT_OR_STRING), { anyOf: TYPES, 'x-orch-int-or-string': true })
  t.same(published({ ...INT_OR_STRING, anyOf: TYPES })['anyOf'], TYPES)
  const first = [{ anyOf: TYPES }, { maxLength: 5 }]
  t.match(published({ ...INT_OR_STRING, allOf: first }), { anyOf: undefined, allOf: first })
  t.match(
    published({ ...INT_OR_STRING, anyOf: [{ maxLength: 5 }], allOf: [{ minLength: 1 }] }),
    { anyOf: [{ maxLength: 5 }], allOf: [{ anyOf: TYPES }, { minLength: 1 }] }
  )
  t.notOk('anyOf' in published(INT_OR_STRING, true))
})

t.test('an embedded object needs its kind and version, unless its Swagger says nothing of its members', async t => {
  const embedded: JSONSchemaProps = {
    type: 'object', 'x-orch-embedded-resource': true, required: ['spec', 'kind'],
    properties: { spec: { type: 'object' } }
  }
  for (const swagger of [false, true]) {
    t.match(
      published(embedded, swagger),
      { required: ['spec', 'kind', 'apiVersion'], properties: { apiVersion: {}, kind: {}, metadata: {}, spec: {} } }
    )
  }
  const open: JSONSchemaProps = {
    type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true
  }
  t.same(published(open)['required'], ['kind', 'apiVersion'])
  t.notOk('required' in published(open, true))
})

t.test('kind and version are described alike in every kind, whatever its author says of them', async t => {
  const types = {
    apiVersion: { type: 'string', description: 'APIVersion defines it.' },
    kind: { type: 'string', description: 'Kind is it.' }
  }
  const own: JSONSchemaProps = {
    type: 'object', 'x-orch-embedded-resource': true,
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string', description: 'ours' } }
  }
  for (const swagger of [false, true]) {
    const root: JSONSchemaProps = { ...own, properties: { ...own.properties, part: own } }
    t.match(customSchema(root, swagger, { ...STANDARD, types })['properties'], {
      ...types, part: { properties: types }
    })
  }
})

t.test(
  'Swagger says of what may be null, or anything, neither type nor members, and requires nothing that may be null',
  async t => {
    const text = { type: 'string' } as const
    const said = (part: JSONSchemaProps): Record<string, unknown> => published(part, true)
    t.same(said({ type: 'object', nullable: true, properties: { a: text } }), {})
    t.same(said({ type: 'array', nullable: true, items: text }), {})
    t.same(
      said({ type: 'array', 'x-orch-preserve-unknown-fields': true, items: text }),
      { 'x-orch-preserve-unknown-fields': true, 'x-kubernetes-preserve-unknown-fields': true }
    )
    t.match(said({ ...INT_OR_STRING, maxLength: 5 }), { maxLength: 5 })
    t.same(
      said({ type: 'object', required: ['a', 'b'], properties: { a: text, b: { ...text, nullable: true } } }),
      { type: 'object', required: ['a'], properties: { a: text, b: {} } }
    )
    t.notOk('required' in said({ type: 'object', required: ['b'], properties: { b: { ...text, nullable: true } } }))
    t.same(
      said({ type: 'object', required: ['k'], additionalProperties: { ...text, nullable: true } }),
      { type: 'object', additionalProperties: {} }
    )
  }
)
