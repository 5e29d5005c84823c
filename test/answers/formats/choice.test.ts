/** The form of a request's answer, and the one that is recorded of it. */
import t from 'tap'
import { asRecorded, formOf, formOfObject, textFormOf, wholeFormOf } from '../../../answers/formats/choice.js'
import { COMPACT, INDENTED } from '../../../answers/formats/json.js'
import { PROTOBUF } from '../../../answers/formats/protobuf.js'
import { YAML } from '../../../answers/formats/yaml.js'
import type { Negotiated } from '../../../answers/request-context.js'

const asked = (accept: Partial<Negotiated>, query = '') => ({
  accept: { format: 'json', as: undefined, asVersion: 'meta.orch.io/v1', pretty: false, ...accept } as const,
  query: new URLSearchParams(query)
})

t.test('objects as they are: in protobuf, YAML or JSON, indented for those who ask for that', async t => {
  t.equal(formOf({ accept: undefined, query: new URLSearchParams() }), COMPACT)
  t.equal(formOf(asked({})), COMPACT)
  t.equal(formOf(asked({ pretty: true })), INDENTED)
  t.equal(formOf(asked({ format: 'yaml', pretty: true })), YAML)
  t.equal(formOf(asked({ format: 'protobuf', pretty: true })), PROTOBUF)
  t.equal(textFormOf(asked({ format: 'protobuf' }).accept), COMPACT, 'what has no protobuf form is JSON')
})

t.test('a form has one media type, and its watch is JSON or protobuf', async t => {
  const table = { as: 'Table' } as const
  const metadata = { as: 'PartialObjectMetadata' } as const
  for (const [accept, type, stream] of [
    [{}, 'application/json', 'application/json'],
    [{ format: 'yaml' }, 'application/yaml', 'application/json'],
    [{ ...table, format: 'yaml' }, 'application/yaml', 'application/json'],
    [{ ...metadata, format: 'yaml' }, 'application/yaml', 'application/json'],
    [{ format: 'protobuf' }, PROTOBUF.type, `${PROTOBUF.type};stream=watch`],
    [{ ...metadata, format: 'protobuf' }, PROTOBUF.type, `${PROTOBUF.type};stream=watch`]
  ] as const) {
    const form = formOf(asked(accept))
    t.equal(form.type, type)
    t.equal(form.stream.type, stream)
  }
})

t.test('watches that are written alike share what is written, others do not', async t => {
  const ids = [
    {}, { format: 'protobuf' }, { as: 'PartialObjectMetadata' }, { as: 'PartialObjectMetadata', format: 'protobuf' },
    { as: 'PartialObjectMetadata', asVersion: 'meta.orch.io/v1beta1' }, { as: 'Table' }
  ].map(accept => formOf(asked(accept as Partial<Negotiated>)).stream.id)
  t.equal(new Set(ids).size, ids.length)
  t.not(
    formOf(asked({ as: 'Table' }, 'includeObject=None')).stream.id, formOf(asked({ as: 'Table' })).stream.id
  )
  t.equal(formOf(asked({ pretty: true })).stream.id, formOf(asked({ format: 'yaml' })).stream.id)
  const [ofList, ofOne] = (['PartialObjectMetadataList', 'PartialObjectMetadata'] as const)
    .map(as => formOf(asked({ as })).stream.id)
  t.equal(ofList, ofOne)
})

t.test('an object that is not stored is whole where it lacks the form that is asked for', async t => {
  const table = asked({ as: 'Table' })
  const metadata = asked({ as: 'PartialObjectMetadata', format: 'yaml' })
  const ofList = asked({ as: 'PartialObjectMetadataList' })
  const tabular = { store: undefined as never, tabular: {} }
  t.equal(formOfObject(table, {}), COMPACT)
  t.equal(formOfObject(metadata, {}), YAML)
  t.equal(formOfObject(table, { forms: 'metadata' }), COMPACT)
  t.equal(formOfObject(ofList, { forms: 'metadata' }), COMPACT)
  t.not(formOfObject(metadata, { forms: 'metadata' }), YAML)
  t.not(formOfObject(table, { forms: tabular }), COMPACT)
  t.not(formOfObject(ofList, { forms: tabular }), COMPACT)
})

t.test('a table says what of its objects is refused, before anything is written', async t => {
  t.throws(() => formOf(asked({ as: 'Table' }, 'includeObject=All')), /must be 'Metadata', 'Object', 'None', or empty/)
  t.equal(wholeFormOf(asked({ as: 'Table' }, 'includeObject=All').accept), COMPACT, 'Statuses are no tables')
})

t.test('what is recorded has the same form, as compact JSON', async t => {
  t.equal(formOf(asRecorded(asked({ format: 'protobuf' }))), COMPACT)
  t.equal(formOf(asRecorded(asked({ pretty: true }))), COMPACT)
  t.equal(formOf(asRecorded({ accept: undefined, query: new URLSearchParams() })), COMPACT)
  const table = formOf(asRecorded(asked({ as: 'Table', format: 'yaml' }, 'includeObject=None')))
  t.equal(table.type, 'application/json')
  t.match(table.stream.id, 'None')
})
