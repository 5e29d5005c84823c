import t from 'tap'
import { build, type Client, type Json } from '../../build.js'
import { definition, install, version } from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const APPLY = { 'content-type': 'application/apply-patch+yaml' }
const keyed = {
  type: 'array', 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['k'],
  items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } }
}
const properties = {
  list: { type: 'array', items: { type: 'string' } }, map: { type: 'object', additionalProperties: { type: 'string' } },
  keyed, set: { type: 'array', items: { type: 'string' }, 'x-orch-list-type': 'set' },
  either: { type: 'boolean', oneOf: [{ format: 'int32' }, { maxLength: 1 }] }
}
const widget = (members: Json): Json =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, ...members })
const causesOf = ({ json }: { json: Json }): string[] =>
  (json['details'].causes as Json[]).map(({ reason, field }) => `${reason as string} ${field as string}`).sort()

async function served (...args: Parameters<typeof build>): Promise<Client> {
  const server = await build(...args)
  await install(server, definition({
    versions: [version('v1', { schema: { openAPIV3Schema: { type: 'object', properties } } })]
  }))
  return server
}

t.test('an empty value that was not set is a change of the desired state', async t => {
  const server = await served(t)
  const generation = ({ json }: { json: Json }): unknown => json['metadata'].generation
  t.equal(generation(await server.post(WIDGETS, widget({}))), 1)
  const apply = (members: Json): ReturnType<typeof server.call> =>
    server.call('PATCH', `${WIDGETS}/a?fieldManager=m`, widget(members), APPLY)
  t.equal(generation(await apply({ list: [] })), 2)
  t.equal(generation(await apply({ list: [], map: {} })), 3)
  t.equal(generation(await apply({ list: [], map: {} })), 3)
  t.equal(generation(await server.patch(`${WIDGETS}/a`, { metadata: { labels: { x: 'y' } } })), 3)
  t.equal(generation(await server.patch(`${WIDGETS}/a`, { map: null })), 4)
})

t.test('a keyed list holds objects, and an item that is there three times is reported once', async t => {
  const server = await served(t)
  const create = (members: Json): ReturnType<typeof server.post> => server.post(WIDGETS, widget(members))
  t.same(causesOf(await create({ keyed: [{ k: 'x' }, 'y', 1] })), [
    'FieldValueInvalid keyed[1]', 'FieldValueTypeInvalid keyed[1]', 'FieldValueTypeInvalid keyed[2]'
  ])
  t.same(causesOf(await create({ set: ['x', 'x', 'x', 'y', 'y'] })), [
    'FieldValueDuplicate set[1]', 'FieldValueDuplicate set[4]'
  ])
})

for (const emulatedVersion of ['1.24', '1.36'] as const) {
  t.test(`a format of another type restricts nothing in ${emulatedVersion}`, async t => {
    const server = await served(t, { emulatedVersion })
    const both = await server.post(WIDGETS, widget({ either: true }))
    t.equal(both.code, 422)
    t.match(both.json['message'], /Found 2 valid alternatives/)
  })
}
