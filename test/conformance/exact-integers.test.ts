import t from 'tap'
import { BINDINGS, build, listen, PROTOBUF, TABLE } from '../build.js'
import { decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { configMaps } from '../stored.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const GENERATION = '9223372036854775807'
const NEAR = '9007199254740993'

t.test('an integer of 64 bits is stored and answered as it was sent', async t => {
  for (const mediaType of ['application/vnd.orch.protobuf', 'application/json'] as const) {
    const server = await listen(t, { storage: { mediaType } })
    const made = await server.post(CONFIGS, `{"metadata":{"name":"a","generation":${GENERATION}}}`)
    t.equal(made.code, 201)
    const holds = (body: string, what: string, of = GENERATION) =>
      t.match(body, new RegExp(`"?generation"?: ?${of}\\b`), what)
    holds(made.body, 'create')
    holds((await server.get(`${CONFIGS}/a`)).body, 'get')
    holds((await server.get(`${CONFIGS}/a?pretty=true`)).body, 'pretty')
    holds((await server.get(`${CONFIGS}/a`, { accept: 'application/yaml' })).body, 'YAML')
    holds((await server.get(CONFIGS, { accept: TABLE })).body, 'a table')
    holds((await server.get(CONFIGS)).body, 'list')
    holds((await server.get(`${CONFIGS}?pretty=1`)).body, 'a pretty list')
    holds(
      (await server.get(CONFIGS, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1' })).body,
      'metadata alone'
    )
    holds(await firstEvent(server.url), 'watch')
    holds(await firstEvent(server.url, { accept: TABLE }), 'watch of tables')
    holds((await server.patch(`${CONFIGS}/a`, { data: { x: 'y' } })).body, 'a merge patch of something else')
    const patched = await server.patch(
      `${CONFIGS}/a`,
      `[{"op":"test","path":"/metadata/generation","value":${GENERATION}},{"op":"add","path":"/data/z","value":"1"}]`,
      'application/json-patch+json'
    )
    t.equal(patched.code, 200, 'a JSON patch can test it')
    holds(patched.body, 'a JSON patch')
    const { object } = decodeProtobuf(configMaps.message, (await server.get(`${CONFIGS}/a`, { accept: PROTOBUF })).raw)
    t.equal(object.metadata.generation, BigInt(GENERATION))
    object.metadata = { name: 'b', generation: BigInt(NEAR) }
    holds(
      (await server.post(CONFIGS, encodeProtobuf(configMaps.message, object), { 'content-type': PROTOBUF })).body,
      'protobuf, in and out', NEAR
    )
  }
})

/** The text of the first event of a watch, as it was sent. */
async function firstEvent (url: string, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await fetch(`${url}${CONFIGS}?watch=1`, { headers })
  let text = ''
  for await (const piece of body ?? []) {
    text += Buffer.from(piece as Uint8Array).toString()
    if (text.includes('\n')) break
  }
  return text
}

t.test('patches set integers of 64 bits, and refuse larger ones with their path', async t => {
  const server = await build(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  const message = /metadata\.generation: expected an integer of 64 bits/
  for (const [type, patch] of [
    ['application/merge-patch+json', (value: string) => `{"metadata":{"generation":${value}}}`],
    ['application/json-patch+json', (value: string) => `[{"op":"add","path":"/metadata/generation","value":${value}}]`]
  ] as const) {
    t.equal((await server.patch(`${CONFIGS}/a`, patch(NEAR), type)).code, 200)
    const refused = await server.patch(`${CONFIGS}/a`, patch('9223372036854775808'), type)
    t.match(refused.json.message, message)
  }
  t.match(await server.post(CONFIGS, '{"metadata":{"name":"b","generation":-9223372036854775809}}'), {
    code: 400, json: { reason: 'BadRequest', message }
  })
  t.match(await server.post(CONFIGS, '{"metadata":{"name":"b","generation":-9223372036854775808}}'), {
    code: 422, json: { message: /metadata.generation: Invalid value: -9223372036854775808/ }
  })
})

t.test('query parameters are integers of 64 bits', async t => {
  const server = await build(t)
  for (const query of [
    'limit=9223372036854775807', 'limit=1000000000000000', 'timeoutSeconds=9223372036854775807',
    'limit=0000000000000000001'
  ]) {
    t.equal((await server.get(`${BINDINGS}?${query}`)).code, 200, query)
  }
  for (const query of [
    'limit=9223372036854775808', 'timeoutSeconds=99999999999999999999', 'limit=-9223372036854775809'
  ]) {
    t.match(await server.get(`${BINDINGS}?${query}`), { code: 400 }, query)
  }
  t.match(await server.get(`${BINDINGS}?limit=-9223372036854775808`), {
    code: 400, json: { message: /must not be negative/ }
  })
})
