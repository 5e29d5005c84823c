/** Definitions under public names: extensions of their schemas, in every form of requests and answers. */
import t from 'tap'
import { parse } from 'yaml'
import { publicMessage } from '../../schemas/compat/definitions.js'
import { publicReview } from '../../schemas/compat/reviews.js'
import { decode } from '../../schemas/language/decode.js'
import { decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { CustomResourceDefinition } from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import { PUBLIC_NAMES } from '../../schemas/compat/naming.js'
import { build, listen, Watch, type Json } from '../build.js'
import { established, until } from '../controllers/custom/definitions.js'

const PUBLIC = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const OURS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const NAME = 'things.example.com'

const LEAF = (x: string): Json => ({
  any: { type: 'object', [`${x}preserve-unknown-fields`]: true },
  embedded: { type: 'object', [`${x}embedded-resource`]: true, [`${x}preserve-unknown-fields`]: true },
  either: { [`${x}int-or-string`]: true },
  list: {
    type: 'array',
    items: {
      type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { [`${x}int-or-string`]: true } }
    },
    [`${x}list-map-keys`]: ['a'],
    [`${x}list-type`]: 'map'
  },
  atomic: { type: 'object', additionalProperties: { [`${x}int-or-string`]: true }, [`${x}map-type`]: 'atomic' },
  ruled: { type: 'string', maxLength: 9, [`${x}validations`]: [{ rule: 'self != "a"', message: 'is a' }] },
  'x-kubernetes-list-type': { type: 'string', default: 'x-kubernetes-list-type' }
})
const definition = (x: string, more: Json = {}): Json => ({
  apiVersion: `apiextensions.${x === 'x-orch-' ? 'orch' : 'k8s'}.io/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              ...LEAF(x),
              nested: {
                type: 'object', additionalProperties: { type: 'array', items: { type: 'object', properties: LEAF(x) } }
              },
              ...more
            }
          }
        }
      }
    ]
  }
})
const propertiesOf = ({ spec }: Json): Json => spec.versions[0].schema.openAPIV3Schema.properties as Json
const strip = ({ apiVersion, kind, metadata: { name }, spec: { conversion: _, ...spec } }: Json): Json => ({
  apiVersion, kind, metadata: { name }, spec
})

t.test('a definition is written and read by either name, in every form', async t => {
  const server = await build(t, { compatNames: true })
  const bodies: Array<readonly [string, string | Buffer]> = [
    ['application/json', JSON.stringify(definition('x-kubernetes-'))],
    ['application/yaml', JSON.stringify(definition('x-kubernetes-'))],
    [
      PROTOBUF,
      encodeProtobuf(CustomResourceDefinition, {
        ...definition('x-orch-'), apiVersion: 'apiextensions.k8s.io/v1'
      } as never)
    ]
  ]
  for (const [type, body] of bodies) {
    const made = await server.call('POST', PUBLIC, body, { 'content-type': type })
    t.equal(made.code, 201, made.body.slice(0, 500))
    t.same(strip(made.json), definition('x-kubernetes-'), type)
    t.equal(made.headers['warning'], undefined)
    t.same(strip((await server.get(`${OURS}/${NAME}`)).json), definition('x-orch-'))
    t.same(
      strip(parse((await server.get(`${PUBLIC}/${NAME}`, { accept: 'application/yaml' })).body) as Json),
      definition('x-kubernetes-')
    )
    t.same(strip((await server.get(PUBLIC)).json.items[0]), { ...definition('x-kubernetes-') })
    t.same(
      strip((await server.get(`${PUBLIC}/${NAME}?includeObject=Object`, { accept: TABLE })).json.rows[0].object),
      definition('x-kubernetes-')
    )
    const binary = await server.get(`${PUBLIC}/${NAME}`, { accept: PROTOBUF })
    t.same(
      strip(decodeProtobuf(CustomResourceDefinition, binary.raw, undefined, PUBLIC_NAMES).object as Json),
      definition('x-orch-')
    )
    await server.delete(`${PUBLIC}/${NAME}`)
    await until(async () => (await server.get(`${PUBLIC}/${NAME}`)).code === 404)
  }
})

t.test('patches', async t => {
  const server = await build(t, { compatNames: true })
  await server.post(PUBLIC, definition('x-kubernetes-'))
  const at = '/spec/versions/0/schema/openAPIV3Schema/properties'
  const version = (properties: Json): Json => ({
    spec: {
      versions: [
        { ...definition('x-kubernetes-').spec.versions[0], schema: { openAPIV3Schema: { type: 'object', properties } } }
      ]
    }
  })
  const LIST = { type: 'array', items: { type: 'string' } }
  const shown = { type: 'array', items: { 'x-kubernetes-int-or-string': true }, 'x-kubernetes-list-type': 'set' }
  const own = { type: 'array', items: { 'x-orch-int-or-string': true }, 'x-orch-list-type': 'set' }
  const patches: Array<readonly [string, unknown]> = [
    ['application/merge-patch+json', version({ added: shown })],
    ['application/strategic-merge-patch+json', version({ added: shown })],
    ['application/json-patch+json', [{ op: 'add', path: `${at}/added`, value: shown }]],
    [
      'application/json-patch+json',
      [
        { op: 'test', path: `${at}/list/x-kubernetes-list-type`, value: 'map' },
        { op: 'add', path: `${at}/added`, value: LIST },
        { op: 'add', path: `${at}/added/items`, value: { 'x-kubernetes-int-or-string': true } },
        { op: 'add', path: `${at}/added/x-kubernetes-list-type`, value: 'set' }
      ]
    ]
  ]
  for (const [type, patch] of patches) {
    const patched = await server.call('PATCH', `${PUBLIC}/${NAME}?dryRun=All`, patch, { 'content-type': type })
    t.equal(patched.code, 200, patched.body.slice(0, 300))
    t.same(propertiesOf(patched.json)['added'], shown, type)
  }
  for (const [url, x] of [[PUBLIC, 'x-kubernetes-'], [OURS, 'x-orch-']] as const) {
    const applied = await server.call(
      'PATCH', `${url}/${NAME}?fieldManager=${x}m&force=true`, definition(x, { added: x === 'x-orch-' ? own : shown }),
      { 'content-type': 'application/apply-patch+yaml' }
    )
    t.equal(applied.code, 200, applied.body.slice(0, 500))
    t.same(propertiesOf(applied.json)['added'], x === 'x-orch-' ? own : shown)
  }
})

t.test('a watch, and refusals', async t => {
  const server = await listen(t, { compatNames: true })
  await server.post(PUBLIC, definition('x-kubernetes-'))
  for (const [url, x] of [[PUBLIC, 'x-kubernetes-'], [OURS, 'x-orch-']] as const) {
    const watch = await Watch.open(t, `${server.url}${url}?watch=1`)
    const [event] = await watch.take(1)
    t.same(strip(event?.object as Json), definition(x))
  }
  const unknown = await server.post(
    `${PUBLIC}?fieldValidation=Strict`,
    definition('x-kubernetes-', { added: { type: 'object', 'x-orch-map-type': 'atomic' } })
  )
  t.match(unknown, { code: 400, json: { message: /unknown field ".*properties\.added\.x-kubernetes-map-type"/ } })
  const mistyped = await server.post(
    PUBLIC, definition('x-kubernetes-', { added: { items: { 'x-kubernetes-int-or-string': 'yes' } } })
  )
  t.match(mistyped, { code: 400, json: { message: /added\.items\.x-kubernetes-int-or-string/ } })
  const invalid = await server.post(
    PUBLIC, definition('x-kubernetes-', { added: { type: 'string', 'x-kubernetes-list-type': 'set' } })
  )
  t.match(invalid, { code: 422, json: { message: /x-kubernetes-list-type/ } })
  t.notMatch(invalid.body, /orch/)
})

t.test('webhooks see and patch the public form', async t => {
  const own = decode(CustomResourceDefinition, definition('x-orch-')).object as Json
  const request = {
    uid: 'u',
    kind: { group: 'apiextensions.orch.io', version: 'v1', kind: 'CustomResourceDefinition' },
    resource: { group: 'apiextensions.orch.io', version: 'v1', resource: 'customresourcedefinitions' },
    object: own
  }
  const { body, answer } = publicReview(JSON.stringify({
    apiVersion: 'admission.orch.io/v1', kind: 'AdmissionReview', request
  }))
  const seen = JSON.parse(body).request.object as Json
  t.same(propertiesOf(seen), propertiesOf(definition('x-kubernetes-')))
  const at = '/spec/versions/0/schema/openAPIV3Schema'
  const patch = [
    { op: 'add', path: `${at}/properties/a`, value: { items: { 'x-kubernetes-int-or-string': true } } },
    { op: 'remove', path: `${at}/properties/list/x-kubernetes-list-type` },
    { op: 'replace', path: '/spec/versions', value: definition('x-kubernetes-').spec.versions },
    { op: 'add', path: `${at}/properties/b`, value: { items: 7, 'x-kubernetes-int-or-string': true } }
  ]
  const response = {
    uid: 'u', allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64')
  }
  const answered = JSON.parse(Buffer.from(answer(Buffer.from(JSON.stringify({
    apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response
  })))).toString()) as Json
  t.same(JSON.parse(Buffer.from(answered['response'].patch as string, 'base64').toString()), [
    { op: 'add', path: `${at}/properties/a`, value: { items: { 'x-orch-int-or-string': true } } },
    { op: 'remove', path: `${at}/properties/list/x-orch-list-type` },
    { op: 'replace', path: '/spec/versions', value: definition('x-orch-').spec.versions },
    patch[3]
  ])
})

t.test('types that hold no schema have one message', async t => {
  t.not(publicMessage(CustomResourceDefinition), CustomResourceDefinition)
  t.equal(publicMessage(CustomResourceDefinition), publicMessage(CustomResourceDefinition))
})

t.test('a column finds what its path names, though nothing that it shows is a name', async t => {
  const server = await build(t, { compatNames: true })
  const sent = definition('x-kubernetes-')
  sent.spec.versions[0].additionalPrinterColumns = [
    { name: 'OS', type: 'string', jsonPath: '.metadata.labels.kubernetes\\.io/os' }
  ]
  t.equal((await server.post(PUBLIC, sent)).code, 201)
  await established(server, NAME)
  const things = '/apis/example.com/v1/namespaces/default/things'
  t.equal(
    (await server.post(
      things,
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a', labels: { 'kubernetes.io/os': 'linux' } } }
    )).code,
    201
  )
  for (const url of [things, `${things}/a`, things]) {
    t.same((await server.get(url, { accept: TABLE })).json['rows'][0].cells, ['a', 'linux'], url)
  }
})
