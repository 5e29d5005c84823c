import t from 'tap'
import { build, type Client, type Json } from '../../build.js'
import { DEFINITIONS, definition, install, version } from './definitions.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const fields = {
  short: { type: 'string', format: 'k8s-short-name' }, long: { type: 'string', format: 'orch-long-name' },
  odd: { type: 'string', format: 'odd' }, small: { type: 'integer', format: 'int32' }, whole: { type: 'integer' },
  float: { type: 'number', format: 'float' }, time: { type: 'string', format: 'date-time' }
}
const of = (more: Json = {}): Json => definition({
  versions: [
    version('v1', {
      schema: {
        openAPIV3Schema: {
          type: 'object', properties: { spec: { type: 'object', properties: { ...fields, ...more } } }
        }
      }
    })
  ]
})
const create = (server: Client, spec: Json) =>
  server.post(`${WIDGETS}?dryRun=All`, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec })
const causes = ({ json }: { json: Json }): Json[] =>
  (json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []
const INVALID: Json[] = [
  { short: 'a.b' }, { short: 'a'.repeat(64) }, { long: 'a_b' }, { small: 2 ** 31 }, { small: -(2 ** 31) - 1 },
  { whole: 1e19 }, { float: 1e39 }
]

t.test('a server of 1.36 checks formats of later releases and ranges of numbers', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await install(server, of())
  for (const spec of INVALID) t.equal((await create(server, spec)).code, 422, JSON.stringify(spec))
  const valid = await create(server, {
    short: 'a'.repeat(63), long: 'a.b', odd: '?', small: 2 ** 31 - 1, whole: 2 ** 53, float: 1e38
  })
  t.equal(valid.code, 201, valid.body)
  t.match(causes(await create(server, { small: 2 ** 31 })), [
    { field: '<nil>', message: 'Invalid value: "": Checked value must be of type integer with format int32' }
  ])
})

t.test('a definition with a format that nothing checks earns a warning, unless it had it', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const made = await server.post(DEFINITIONS, of())
  t.match(String(made.headers['warning']), /^299 - "unrecognized format \\"odd\\""/)
  const next = await server.call(
    'PATCH', `${DEFINITIONS}/widgets.example.com`,
    { spec: of({ other: { type: 'string', format: 'int32' } })['spec'] as Json },
    { 'content-type': 'application/merge-patch+json' }
  )
  t.equal(next.code, 200, next.body)
  t.equal(String(next.headers['warning']), '299 - "unrecognized format \\"int32\\""')
})

t.test('formats are known by type, and a refused definition earns no warning', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const warned = async (more: Json): Promise<unknown> => {
    const made = await server.post(`${DEFINITIONS}?dryRun=All`, of({ odd: { type: 'string' }, ...more }))
    return [made.code, String(made.headers['warning'] ?? '')]
  }
  t.same(await warned({ a: { type: 'integer', format: 'cidr' } }), [201, '299 - "unrecognized format \\"cidr\\""'])
  t.same(await warned({ a: { type: 'number', format: 'int32' } }), [201, '299 - "unrecognized format \\"int32\\""'])
  t.same(await warned({ a: { type: 'string', format: 'Date' } }), [201, '299 - "unrecognized format \\"Date\\""'])
  t.same(await warned({ a: { type: 'string', format: 'uu-id' } }), [201, ''])
  t.same(await warned({ a: { type: 'integer', format: 'cidr', minLength: 1, default: 'x' } }), [422, ''])
  t.same(
    await warned({ a: { type: 'string', format: 'k8s-long-name', default: 'x,y' } }), [422, ''],
    'a default has its format, too'
  )
})

t.test('a server of 1.24 takes them as documentation', async t => {
  const server = await build(t)
  await install(server, of())
  for (const spec of INVALID) t.equal((await create(server, spec)).code, 201, JSON.stringify(spec))
  const made = await server.post(`${DEFINITIONS}?dryRun=All`, { ...of(), metadata: { name: 'widgets.example.com' } })
  t.equal(made.headers['warning'], undefined)
})
