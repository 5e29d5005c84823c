/** Lists far larger than what may be kept in memory at a time. */
import t from 'tap'
import { connect, type Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { encodeMessage } from '../../schemas/codec/protobuf/encode.js'
import { toYaml } from '../../schemas/codec/yaml/yaml-write.js'
import { findResource } from '../schemas/find-resource.js'
import { CHUNK_BYTES } from '../../answers/chunks.js'
import { protobufList } from '../protobuf-list.js'
import { TABLE, listen, PROTOBUF, type Json, type Listening } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const COUNT = 100
const METADATA = 'as=PartialObjectMetadataList;g=meta.orch.io;v=v1'

const FORMS: ReadonlyArray<readonly [string, string, Record<string, string>]> = [
  ['JSON', '', {}],
  ['gzip', '', { 'accept-encoding': 'gzip' }],
  ['pretty', '?pretty=true', {}],
  ['YAML', '', { accept: 'application/yaml' }],
  ['protobuf', '', { accept: PROTOBUF }],
  ['protobuf, gzip', '', { accept: PROTOBUF, 'accept-encoding': 'gzip' }],
  ['Table', '?includeObject=Object', { accept: TABLE }],
  ['metadata', '', { accept: `application/json;${METADATA}` }],
  ['metadata, protobuf', '', { accept: `${PROTOBUF};${METADATA}` }]
]

let made: Promise<Listening> | undefined
/** The server of all tests, with 10 MB that compression does not reduce to nothing. */
const filled = (): Promise<Listening> => made ??= fill()

async function fill (): Promise<Listening> {
  const server = await listen(t)
  for (let at = 0; at < COUNT; at++) {
    const noise = Array.from(
      { length: 100 }, (_, one) => [`key-${one}`, Math.random().toString(36).slice(2, 12).repeat(100)]
    )
    const { code } = await server.post(CONFIGS, {
      metadata: { name: `c${String(at).padStart(3, '0')}`, annotations: { text: 'a'.repeat(2000) } },
      data: Object.fromEntries(noise)
    })
    if (code !== 201) throw new Error(`create answered ${code}`)
  }
  return server
}

t.test('a client that does not read a list has a few pieces buffered, not the list, in every encoding', async t => {
  const server = await filled()
  const sockets: Socket[] = []
  server.app.server.on('connection', socket => { sockets.push(socket) })
  const readers = FORMS.map(([, query, headers]) => {
    const reader = connect(server.port, '127.0.0.1')
    t.teardown(() => { reader.destroy() })
    reader.pause()
    reader.write(
      `GET ${CONFIGS}${query} HTTP/1.1\r\nHost: ` +
      `x\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
    )
    return reader
  })
  t.equal(readers.length, FORMS.length)
  // Until nothing moves any more: the system's buffers of the connections are full.
  let before = -1
  for (;;) {
    const written = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
    if (sockets.length === FORMS.length && written === before) break
    before = written
    await new Promise(resolve => setTimeout(resolve, 300))
  }
  const waiting = sockets.map(({ writableLength }) => writableLength)
  t.ok(waiting.some(bytes => bytes > 0), 'there are readers behind')
  for (const bytes of waiting) t.ok(bytes <= 3 * CHUNK_BYTES, `${bytes} bytes`)
})

t.test('large lists are complete in every encoding', async t => {
  const server = await filled()
  const answers = new Map<string, Buffer>()
  for (const [form, query, headers] of FORMS) {
    const answer = await server.get(`${CONFIGS}${query}`, headers)
    t.equal(answer.code, 200, form)
    answers.set(form, answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.raw) : answer.raw)
  }
  const bytes = (form: string): Buffer => answers.get(form) ?? Buffer.alloc(0)
  const whole = JSON.parse(bytes('JSON').toString()) as Json
  t.equal(whole.items.length, COUNT)
  t.ok(bytes('gzip').equals(bytes('JSON')))
  t.strictSame(JSON.parse(bytes('pretty').toString()), whole)
  t.ok(bytes('YAML').toString() === toYaml(whole))
  const definition = findResource('', 'v1', 'configmaps')
  if (definition === undefined) throw new Error('no such resource')
  const expected = protobufList(
    definition, whole.metadata, whole.items.map((item: never) => encodeMessage(definition.message, item))
  )
  t.ok(bytes('protobuf').equals(expected))
  t.ok(bytes('protobuf, gzip').equals(expected))
  const table = JSON.parse(bytes('Table').toString()) as Json
  t.strictSame(table.rows.map(({ object }: Json) => object), whole.items.map((item: Json) => item))
  const metadata = JSON.parse(bytes('metadata').toString()) as Json
  t.strictSame(metadata.items.map((item: Json) => item.metadata), whole.items.map((item: Json) => item.metadata))
  t.ok(bytes('metadata, protobuf').length > COUNT * 2000)
})

t.test('lists are whole while others leave in the middle of theirs', async t => {
  const server = await filled()
  for (const [form, query, headers] of FORMS.filter(([form]) =>
    ['JSON', 'gzip', 'protobuf', 'metadata'].includes(form))) {
    const wanted = (await server.get(`${CONFIGS}${query}`, headers)).raw
    const leaving = Array.from({ length: 5 }, (_, at) => new Promise<void>(resolve => {
      const reader = connect(server.port, '127.0.0.1')
      reader.write(
        `GET ${CONFIGS}${query} HTTP/1.1\r\nHost: x\r\nConnection: ` +
        `close\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
      )
      let left = at * 100_000
      reader.on('data', (piece: Buffer) => { if ((left -= piece.length) < 0) reader.destroy() })
      reader.on('close', () => { resolve() })
    }))
    const answers = await Promise.all(Array.from({ length: 4 }, () => server.get(`${CONFIGS}${query}`, headers)))
    await Promise.all(leaving)
    for (const { raw } of answers) t.ok(raw.equals(wanted), form)
  }
})

t.test('pipelined requests for large lists are answered one after the other', async t => {
  const server = await filled()
  const wanted = (await server.get(CONFIGS)).raw
  const reader = connect(server.port, '127.0.0.1')
  t.teardown(() => { reader.destroy() })
  const ask = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
  reader.write(ask(CONFIGS) + ask('/livez') + ask(CONFIGS) + ask('/livez', 'Connection: close\r\n'))
  const pieces: Buffer[] = []
  for await (const piece of reader) pieces.push(piece as Buffer)
  let left = Buffer.concat(pieces)
  for (const body of [wanted, Buffer.from('ok'), wanted, Buffer.from('ok')]) {
    const end = left.indexOf('\r\n\r\n') + 4
    t.match(
      left.subarray(0, end).toString(), new RegExp(`^HTTP/1.1 200 OK\r\n[^]*content-length: ${body.length}\r\n`, 'i')
    )
    t.ok(left.subarray(end, end + body.length).equals(body))
    left = left.subarray(end + body.length)
  }
  t.equal(left.length, 0)
})
