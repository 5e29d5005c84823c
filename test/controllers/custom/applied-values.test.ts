/** What an apply of empty and null values of a custom type stores and owns. */
import t from 'tap'
import { build, type Client, type Json, type Test } from '../../build.js'
import { APPLY, definition, install, version } from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const TEXT = { type: 'string' }
const SPEC: Json = {
  free: { type: 'object', nullable: true, additionalProperties: TEXT },
  open: { type: 'object', nullable: true, 'x-orch-preserve-unknown-fields': true },
  struct: { type: 'object', nullable: true, properties: { a: TEXT } },
  sets: { type: 'object', additionalProperties: { type: 'array', 'x-orch-list-type': 'set', items: TEXT } },
  parts: {
    type: 'array',
    'x-orch-list-type': 'map',
    'x-orch-list-map-keys': ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: TEXT, tags: { type: 'array', 'x-orch-list-type': 'set', items: TEXT } }
    }
  }
}

async function start (t: Test): Promise<(manager: string, spec: Json) => ReturnType<Client['call']>> {
  const server = await build(t)
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: SPEC } } } }
  await install(server, definition({ versions: [version('v1', { schema })] }))
  return async (manager, spec) => await server.call(
    'PATCH', `${WIDGETS}/a?fieldManager=${manager}`,
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec }, { 'content-type': APPLY }
  )
}

const fieldsOf = ({ json }: { json: Json }, name: string): unknown =>
  (json['metadata'].managedFields as Json[]).find(({ manager }) => manager === name)?.['fieldsV1']

for (const name of ['free', 'open', 'struct']) {
  t.test(`an apply that creates with null keeps it, and owns the field: ${name}`, async t => {
    const apply = await start(t)
    const { code, json } = await apply('one', { [name]: null })
    t.equal(code, 201)
    t.same(json['spec'], { [name]: null })
    t.same(fieldsOf({ json }, 'one'), { 'f:spec': { [`f:${name}`]: {} } })
  })
}

t.test(
  'an empty list that merges belongs to nobody, in items and maps too, and the next applier adds to it', async t => {
    const apply = await start(t)
    const first = await apply('one', { parts: [{ name: 'p', tags: [] }], sets: { a: [] } })
    t.same(fieldsOf(first, 'one'), {
      'f:spec': { 'f:parts': { 'k:{"name":"p"}': { '.': {}, 'f:name': {} } }, 'f:sets': { 'f:a': {} } }
    })
    const second = await apply('two', { parts: [{ name: 'p', tags: ['x'] }], sets: { a: ['y'] } })
    t.equal(second.code, 200)
    t.same(second.json['spec'], { parts: [{ name: 'p', tags: ['x'] }], sets: { a: ['y'] } })
    t.equal((await apply('one', { parts: [{ name: 'p', tags: [] }], sets: { a: [] } })).code, 200)
    t.same((await apply('three', { parts: [], sets: {} })).json['spec'], second.json['spec'])
  }
)
