import t from 'tap'
import { gzipSync } from 'node:zlib'
import { representations } from '../../schemas/resources.js'
import { nameOf, SAMPLES, WRITTEN_IN } from '../samples.js'
import { encodeProtobuf } from '../../schemas/codec/protobuf/encode.js'
import { decode } from '../../schemas/language/decode.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { BINDINGS, PROTOBUF, binding, build } from '../build.js'
import { eachServed } from '../conformance/collections.js'
import { Loop, MAX_KEPT, refuses, stillServes, type Case } from './refusal.js'
import { wrongTypes } from './wrong-types.js'

const resources = representations.filter(({ gate }) => gate === undefined)

const JSON_TYPE = { 'content-type': 'application/json' }
const YAML_TYPE = { 'content-type': 'application/yaml' }
const PROTOBUF_TYPE = { 'content-type': PROTOBUF }
const MAX_BYTES = 3 * 1024 * 1024
const DEEP = 100_000
const good = JSON.stringify(binding('x'))
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** A length-delimited protobuf field. */
function field (number: number, bytes: Uint8Array): Buffer {
  const length: number[] = []
  let rest = bytes.length
  for (; rest > 127; rest >>>= 7) length.push(rest & 127 | 128)
  return Buffer.concat([Buffer.from([number << 3 | 2, ...length, rest]), bytes])
}
const envelope = (raw: Uint8Array): Buffer => Buffer.concat([MAGIC, field(2, raw)])

const json = (body: string | Buffer, title = String(body).slice(0, 40), more: Partial<Case> = {}): Case => ({
  title, body, headers: JSON_TYPE, ...more
})
const yaml = (body: string | Buffer, title = String(body).slice(0, 40), more: Partial<Case> = {}): Case => ({
  title, body, headers: YAML_TYPE, ...more
})
const protobuf = (body: Buffer, title: string, more: Partial<Case> = {}): Case => ({
  title, body, headers: PROTOBUF_TYPE, ...more
})

t.test('malformed JSON and JSON that is not an object get different messages', async t => {
  const server = await build(t)
  await refuses(t, server, [
    json('', 'empty', { says: /empty/ }), json(' \n', 'blank', { says: /empty/ }),
    json('\0', 'NUL', { says: /not valid JSON/ }), json(`${good}\0`, 'NUL behind', { says: /not valid JSON/ }),
    json('{'), json('}'), json('{"a"'), json('{"a":'), json('{"a":1,}'), json("{'a':1}"), json('{a:1}'), json('[1'),
    json('nul'), json('NaN'), json('01'), json('"\n"'), json('"\\x"'), json('/**/{}'),
    json(`${good}x`), json(good + good), json('null', 'null', { codes: [422], says: /metadata\.name/ }),
    json('[]', 'list', { says: /expected an object, got a list/ }),
    json('1', 'number', { says: /expected an object, got a number/ }),
    json('"x"', 'text', { says: /expected an object, got a string/ }),
    json('true', 'true', { says: /expected an object/ }),
    json(`\ufeff${good}`, 'byte order mark', { says: /byte order mark/ }),
    json(Buffer.from(good, 'utf16le'), 'UTF-16'), json(Buffer.from([0x22, 0xff, 0x22]), 'no UTF-8', { says: /UTF-8/ }),
    json(Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'overlong NUL', { says: /UTF-8/ }),
    json(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'a surrogate in UTF-8', { says: /UTF-8/ })
  ])
  // Truncated at each byte: a document is complete or refused.
  await refuses(
    t, server,
    Array.from({ length: good.length - 1 }, (_, length) => json(good.slice(0, length + 1), `cut after ${length + 1}`))
  )
})

t.test('malformed YAML is refused as YAML, and so are values that JSON cannot hold', async t => {
  const server = await build(t)
  await refuses(t, server, [
    yaml('', 'empty', { says: /empty/ }), yaml('# nothing', 'comment', { codes: [422], says: /metadata\.name/ }),
    yaml('a: ['), yaml('{'), yaml('"'), yaml('a: b: c'), yaml(': :'), yaml('- a\nb: c'), yaml('\ta: 1'),
    yaml('a: *b', 'no such alias', { says: /alias/ }),
    yaml('a: 1\n---\nb: 2', 'two documents', { says: /more than one YAML document/ }),
    yaml('a: !!binary x', 'binary', { codes: [400, 422] }),
    yaml('? [a]\n: b', 'a list as a key', { says: /key that is a list or map/ }),
    yaml('a: .inf', 'infinity', { says: /infinity/ }),
    yaml('- a', 'list', { says: /expected an object, got a list/ }),
    yaml('text', 'text', { says: /expected an object, got a string/ }),
    yaml(Buffer.from([0x61, 0x3a, 0x20, 0xff]), 'no UTF-8', { says: /UTF-8/ }),
    yaml('\ufeffa: 1', 'byte order mark', { says: /byte order mark/ }),
    yaml('a: &a [*a]', 'an alias within itself', { says: /nests|alias/ }),
    yaml('metadata: {name: 5}', 'a number for a name', { says: /metadata\.name: expected a string/ })
  ])
})

t.test('malformed protobuf is refused as protobuf', async t => {
  const server = await build(t)
  // the message of that resource
  const whole = encodeProtobuf(
    resources.find(({ plural }) => plural === 'clusterrolebindings')?.message as never, binding('x') as never
  )
  const raw = Buffer.from(whole)
  await refuses(t, server, [
    protobuf(Buffer.alloc(0), 'empty', { says: /empty/ }), protobuf(Buffer.from(good), 'JSON', { says: /6b 38 73 00/ }),
    protobuf(Buffer.from([0x6b, 0x38, 0x73]), 'half a prefix', { says: /6b 38 73 00/ }),
    protobuf(Buffer.from([0x6b, 0x38, 0x73, 0x01]), 'another prefix', { says: /6b 38 73 00/ }),
    protobuf(MAGIC, 'nothing behind the prefix', { codes: [400, 422] }),
    protobuf(Buffer.concat([MAGIC, Buffer.from([0xff])]), 'half a tag', { says: /cut short/ }),
    protobuf(
      Buffer.concat([MAGIC, Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f])]), 'a length of 4 GiB',
      { says: /cut short/ }
    ),
    protobuf(Buffer.concat([MAGIC, Buffer.alloc(11, 0xff)]), 'a number of eleven bytes'),
    protobuf(envelope(Buffer.from([0x0d, 0, 0, 0, 0])), 'metadata as a fixed number', { says: /wire type/ }),
    protobuf(envelope(Buffer.from([0x08, 0x01])), 'metadata as a number', { says: /wire type/ }),
    protobuf(envelope(Buffer.from([0x07])), 'a field of number 0'),
    protobuf(envelope(Buffer.from([0x7f])), 'wire type 7', { says: /wire type/ }),
    protobuf(envelope(field(1, field(1, Buffer.from([0xff])))), 'text that is no UTF-8', { says: /UTF-8/ }),
    protobuf(
      Buffer.concat([
        MAGIC, field(1, Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from('Pod'))])),
        field(2, Buffer.alloc(0))
      ]),
      'another kind',
      { says: /kind|apiVersion/ }
    ),
    protobuf(
      Buffer.concat([MAGIC, field(2, Buffer.alloc(0)), field(3, Buffer.from('gzip'))]), 'an encoding',
      { says: /contentEncoding/ }
    ),
    protobuf(
      Buffer.concat([MAGIC, field(2, Buffer.alloc(0)), field(4, Buffer.from('text/plain'))]), 'another type inside',
      { says: /contentType/ }
    )
  ])
  const broken: Case[] = []
  // The last two fields of an envelope are empty; without them it is still complete.
  for (let length = MAGIC.length + 2; length < raw.length - 4; length++) {
    broken.push(protobuf(raw.subarray(0, length), `cut after ${length}`, { codes: [400, 422] }))
  }
  await refuses(t, server, broken)
})

function refusesAt (says: RegExp, decoded: () => unknown): boolean {
  try {
    decoded()
    return false
  } catch (error) {
    return isDecodeError(error) && says.test(error.message)
  }
}

t.test('a wrong type in any field of any resource is refused by the path of the field', async t => {
  let fields = 0
  const made = new Set<string>()
  const known = new Set<string>()
  for await (const { server, one: definition } of eachServed(t)) {
    if (!definition.verbs.includes('update')) continue
    const base =
      `${definition.group === '' ? '/api/v1' : `/apis/${definition.group}/${definition.version}`}` +
      `${definition.namespaced ? '/namespaces/default' : ''}/${definition.plural}`
    // The versions of a type share their objects.
    const name = nameOf(definition.group, definition.plural)
    const written = WRITTEN_IN[definition.plural] ?? definition.version
    const sample = SAMPLES[`${definition.group}/${definition.plural}`]
    if (!made.has(definition.plural)) {
      t.equal(
        (await server.post(
          base.replace(`/${definition.version}`, `/${written}`), { ...sample, metadata: { name } }
        )).code,
        201,
        definition.plural
      )
    }
    made.add(definition.plural)
    const cases: Case[] = []
    const accepted: string[] = []
    let before = ''
    for (const { path, value, body } of wrongTypes(definition.message, known)) {
      const ofType = path === 'apiVersion' || path === 'kind'
      const says = ofType ? /kind|apiVersion|API version/ : new RegExp(path.replace(/[[\]$]/g, '\\$&'))
      const title = `${definition.plural} ${path} = ${JSON.stringify(value)}`
      // The encodings and verbs differ only before fields are read: one wrong value of each field is sent, in one of
      // these ways.
      if (path === before && !ofType) {
        if (!refusesAt(says, () => decode(definition.message, JSON.parse(JSON.stringify(body))))) accepted.push(title)
        continue
      }
      before = path
      const ways: Case[] = [
        { title, url: base, body, headers: JSON_TYPE, says },
        { title: `update: ${title}`, method: 'PUT', url: `${base}/${name}`, body, headers: JSON_TYPE, says },
        // An explicit key makes it YAML that is not JSON.
        {
          title: `YAML: ${title}`,
          url: base,
          body: JSON.stringify(body).replace('{', '{ ? '),
          headers: YAML_TYPE,
          says: path.includes('[') ? /\[0\]/ : says
        },
        {
          title: `patch: ${title}`,
          method: 'PATCH',
          url: `${base}/${name}`,
          body,
          headers: { 'content-type': 'application/merge-patch+json' },
          says,
          codes: [422]
        }
      ]
      cases.push(...ways.filter((_, way) => way === fields % ways.length))
      fields++
    }
    t.same(accepted, [], `${definition.plural}: every wrong value names its field`)
    await refuses(t, server, cases)
  }
  t.ok(fields > 1500, `${fields} fields`)
})

t.test('a hundred thousand levels are refused at once in every encoding', async t => {
  const server = await build(t)
  await refuses(t, server, [
    json('['.repeat(DEEP), 'open lists', { says: /levels deep/ }),
    json('{"a":'.repeat(DEEP), 'open objects', { says: /levels deep/ }),
    json('['.repeat(DEEP) + ']'.repeat(DEEP), 'lists', { says: /levels deep/ }),
    json(`${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`, 'objects', { says: /levels deep/ }),
    yaml('['.repeat(DEEP), 'YAML lists'), yaml('{a: '.repeat(DEEP), 'YAML maps'),
    yaml('- '.repeat(DEEP), 'YAML dashes'), yaml('? '.repeat(DEEP), 'YAML questions'),
    yaml(
      Array.from({ length: 2400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), 'YAML stairs', { says: /nests/ }
    ),
    protobuf(envelope(Buffer.alloc(DEEP, 0x7b)), 'protobuf groups', { says: /deep/ }),
    protobuf(envelope(Buffer.alloc(DEEP, 0x0a)), 'protobuf messages', { says: /cut short|deep/ })
  ])
})

t.test('bodies that are small on the wire and large in memory are refused cheaply', async t => {
  const server = await build(t)
  const fill = (unit: string): string => unit.repeat(Math.floor((MAX_BYTES - 10) / unit.length))
  const times = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('')
  const ninefold = (name: string, item: string): string => `${name}: &${name} [${new Array(9).fill(item).join(',')}]\n`
  const bomb = ninefold('a', 'x') +
    'bcdefghij'.split('').map((name, index) => ninefold(name, `*${'abcdefghij'[index]}`)).join('')
  await refuses(t, server, [
    json(`[${fill('{},')}{}]`, 'a million objects', { says: /more than \d+ values/ }),
    json(`[${fill('0,')}0]`, 'numbers', { says: /more than \d+ values/ }),
    json(`{${fill('"a":0,')}"a":0}`, 'one key again and again', { says: /more than \d+ values/ }),
    json(fill(' '), 'blanks'), json(`"${fill('\\\\')}"`, 'backslashes'),
    json(`{${times(49_000, index => `"k${index}":0,`)}"a":0}`, '49,000 unknown fields', {
      codes: [400], says: /more than 16100 values by name/
    }),
    json(`{${times(15_000, index => `"k${index}":0,`)}"a":0}`, '15,000 unknown fields', { codes: [422] }),
    json(`{${'"a":0,'.repeat(15_000)}"a":0}`, '15,000 times one unknown field', { codes: [422] }),
    json(
      JSON.stringify({ ...binding('x'), subjects: new Array(12_000).fill({}) }), '12,000 empty subjects',
      { codes: [422] }
    ),
    json(
      JSON.stringify(binding('x', {
        metadata: { annotations: Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`%${index}`, ''])) }
      })),
      '15,000 bad annotations',
      { codes: [422] }
    ),
    json(
      JSON.stringify(binding('x', { metadata: { annotations: { a: 'x'.repeat(2_000_000) } } })),
      'an annotation of 2 MB', { codes: [422], says: /annotations: Too long/ }
    ),
    json(JSON.stringify(binding('x'.repeat(2_000_000))), 'a name of 2 MB', { codes: [422], says: /metadata\.name/ }),
    json(JSON.stringify(binding('ü'.repeat(700))), 'a name of 1,400 bytes, 4,200 in a key', {
      codes: [422], says: /metadata\.name/
    }),
    protobuf(
      envelope(Buffer.alloc(MAX_BYTES - 20, Buffer.from([0x1a, 0x00]))),
      'protobuf: a field that stands once, 1.5 million times', { says: /more than \d+ values/ }
    ),
    protobuf(
      envelope(Buffer.alloc(MAX_BYTES - 20, Buffer.from([0x12, 0x00]))), 'protobuf: 1.5 million subjects',
      { says: /more than \d+ values/ }
    ),
    protobuf(
      envelope(Buffer.alloc(MAX_BYTES - 20, Buffer.from([0x78, 0x00]))), 'protobuf: 1.5 million unknown fields',
      { codes: [422] }
    ),
    protobuf(
      envelope(field(1, field(8, Buffer.alloc(MAX_BYTES - 40, Buffer.from([0xf8, 0x01, 0x00]))))),
      'protobuf: a time of a million fields', { codes: [400, 422] }
    ),
    yaml(bomb, 'YAML alias bomb', { says: /too large .* aliases/ }),
    yaml(times(150, index => `- &a${index} x\n- *a${index}\n`), 'YAML anchors'),
    yaml(times(2500, index => `- &a${index} x\n- *a${index}\n`), 'many YAML anchors'),
    yaml('[]'.repeat(2000), 'YAML mistakes'), yaml('[]'.repeat(20_000), 'many YAML mistakes'),
    yaml('- \n'.repeat(20_000), 'many YAML nulls'), yaml(`[${','.repeat(4000)}]`, 'YAML commas')
  ])
})

t.test('a large YAML body is not parsed for a client that has disconnected', async t => {
  const { listen } = await import('../build.js')
  const server = await listen(t)
  // Parsing one takes a thread several seconds, and there are two threads.
  const body = '[]'.repeat(300_000)
  const gone = new AbortController()
  const asked = Array.from(
    { length: 12 },
    () => fetch(`${server.url}${BINDINGS}`, {
      method: 'POST', body, headers: YAML_TYPE, signal: gone.signal
    }).catch(() => undefined)
  )
  while (!/apiserver_current_inflight_requests\{request_kind="mutating"\} 12/.test(
    (await server.get('/metrics')).body
  )) {
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  gone.abort()
  await Promise.all(asked)
  const since = process.cpuUsage()
  const { code } = await server.post(
    BINDINGS,
    `metadata:\n  name: next\n  annotations: {a: "${'x'.repeat(5000)}"}\nroleRef: {apiGroup: ` +
    'rbac.authorization.orch.io, kind: ClusterRole, name: view}\n',
    YAML_TYPE
  )
  t.equal(code, 201)
  const { user } = process.cpuUsage(since)
  t.ok(user < 2_500_000, `${(user / 1000).toFixed(0)} ms of CPU went into them and the next one`)
})

t.test('a large object delays other requests by one turn of the loop at a time', async t => {
  const server = await build(t)
  const loop = new Loop()
  const text = (name: string): string => JSON.stringify(binding(name, {
    subjects: Array.from(
      { length: 12_000 }, (_, index) => ({ kind: 'User', name: `user-of-a-large-binding-${index}-${'x'.repeat(60)}` })
    )
  }))
  t.ok(text('large').length > 1_200_000)
  /** Excludes the time that the test itself spends on reading a response. */
  const send = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, type: string, payload?: Buffer
  ) => server.app.inject({
    method,
    url,
    headers: payload === undefined ? { accept: type } : { 'content-type': type },
    ...(payload === undefined ? {} : { payload })
  })
  const cost = async (title: string, code: number, work: () => ReturnType<typeof send>): Promise<void> => {
    const { result, ms } = await loop.leastHeld(work)
    t.equal(result.statusCode, code, title)
    t.ok(ms < MAX_KEPT, `${title}: ${ms.toFixed(0)} ms`)
  }
  const made = ['large', ...'abcdefg'].map(name => Buffer.from(text(name)))
  await cost('create', 201, () => send('POST', BINDINGS, 'application/json', made.shift()))
  const url = `${BINDINGS}/large`
  const [one, other] = [text('large'), text('large').replace('binding-0-', 'binding-x-')].map(body => Buffer.from(body))
  let turn = 0
  await cost('update', 200, () => send('PUT', url, 'application/json', ++turn % 2 === 0 ? one : other))
  await cost('merge patch', 200, () => send(
    'PATCH', url, 'application/merge-patch+json',
    Buffer.from(JSON.stringify({ metadata: { labels: { turn: String(++turn) } } }))
  ))
  await cost('JSON patch', 200, () =>
    send('PATCH', url, 'application/json-patch+json', Buffer.from('[{"op":"remove","path":"/subjects/0"}]')))
  for (const type of ['application/json', 'application/yaml', PROTOBUF]) {
    await cost(`get as ${type}`, 200, () => send('GET', url, type))
  }
  await stillServes(t, server)
})

t.test('a body over 3 MiB is 413, and one of exactly 3 MiB is read', async t => {
  const server = await build(t)
  await refuses(t, server, [
    json(Buffer.alloc(MAX_BYTES + 1, 0x20), 'one byte more', { codes: [413], says: /limit is 3145728/ }),
    yaml(Buffer.alloc(MAX_BYTES + 1, 0x20), 'one byte more of YAML', { codes: [413] }),
    protobuf(Buffer.alloc(MAX_BYTES + 1, 0x20), 'one byte more of protobuf', { codes: [413] }),
    {
      title: 'of an update',
      method: 'PUT',
      url: `${BINDINGS}/x`,
      body: Buffer.alloc(MAX_BYTES + 1, 0x20),
      headers: JSON_TYPE,
      codes: [413]
    },
    {
      title: 'of a patch',
      method: 'PATCH',
      url: `${BINDINGS}/x`,
      body: Buffer.alloc(MAX_BYTES + 1, 0x20),
      headers: { 'content-type': 'application/merge-patch+json' },
      codes: [413]
    },
    {
      title: 'of a delete',
      method: 'DELETE',
      url: `${BINDINGS}/x`,
      body: Buffer.alloc(MAX_BYTES + 1, 0x20),
      headers: JSON_TYPE,
      codes: [413]
    },
    json(Buffer.alloc(MAX_BYTES, 0x20), 'just as much', { codes: [400], says: /not valid JSON/ })
  ])
})

t.test('encoded and mistyped bodies are 415 by name', async t => {
  const server = await build(t)
  const type = (value: string, more: Record<string, string> = {}): Case => ({
    title: value, body: good, headers: { 'content-type': value, ...more }, codes: [415]
  })
  await refuses(t, server, [
    type('text/plain'), type('application/xml'), type('application/jsonx'), type('application/json-patch+json'),
    type('__proto__'), type('constructor'), type('multipart/form-data; boundary=x'),
    type('application/x-www-form-urlencoded'),
    ...[
      'foo', 'foo=', '=x', 'foo="x', ';x=y', 'q=a b', 'a=b c=d', 'charset=utf-8; Charset=utf-16', 'a=""b'
    ].map(parameters => type(`application/json;${parameters}`)), {
      ...type(`application/json; a=b${' '.repeat(30_000)}c`), title: 'blanks'
    }, { ...type(`application/json${'; a="'.repeat(6001)}`), title: 'quotes' },
    {
      title: 'gzip',
      body: gzipSync(good),
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      codes: [415],
      says: /gzip/
    },
    { title: 'br', body: good, headers: { ...JSON_TYPE, 'content-encoding': 'br' }, codes: [415] },
    {
      title: 'gzip bomb', body: gzipSync(Buffer.alloc(30_000_000)),
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, codes: [415]
    },
    {
      title: 'patch as JSON',
      method: 'PATCH',
      url: `${BINDINGS}/x`,
      body: '{}',
      headers: JSON_TYPE,
      codes: [415],
      says: /accepted media types include: application\/json-patch\+json, /
    }
  ])
  t.equal(
    (await server.post(BINDINGS, good, { 'content-type': 'Application/JSON; Charset=UTF-8' })).code, 201,
    'parameters and case do not matter'
  )
  for (const [index, value] of [
    'application/json ;', 'application/yaml; a="b;\\"c" ; d=e; ', 'application/json; a=b; A=b', ' '
  ].entries()) {
    t.equal((await server.post(BINDINGS, binding(`typed-${index}`), { 'content-type': value })).code, 201, value)
  }
})

t.test('texts that have no UTF-8 form are refused by path, and never stored', async t => {
  const server = await build(t)
  const lone = '\\ud800'
  await refuses(t, server, [
    json(good.replace('"name":"x"', `"name":"${lone}"`), 'name', { says: /metadata\.name: .*surrogate/ }),
    json(
      JSON.stringify(binding('y', { subjects: [{ kind: 'User', name: '@' }] })).replace('@', `a${lone}`), 'subject',
      { says: /subjects\[0\]\.name/ }
    ),
    json(
      JSON.stringify(binding('y', { metadata: { annotations: { a: '@' } } })).replace('@', '\\udfff'), 'annotation',
      { says: /metadata\.annotations\.a/ }
    ),
    json(
      JSON.stringify(binding('y', { metadata: { labels: { '@': 'a' } } })).replace('@', '\\udfff'), 'label key',
      { says: /metadata\.labels/ }
    )
  ])
  t.same((await server.get(BINDINGS)).json.items, [])
  t.equal((await server.post(BINDINGS, binding('a\u{1f600}b'))).code, 201, 'a whole pair is a character like any other')
  t.equal((await server.get(`${BINDINGS}/${encodeURIComponent('a\u{1f600}b')}`)).json.metadata.name, 'a\u{1f600}b')
})

t.test('names of prototypes are data in string maps and have no effect elsewhere', async t => {
  const server = await build(t)
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']) {
    const name = `key-${key.replaceAll('_', '').toLowerCase()}`
    const text = JSON.stringify({
      kind: 'ConfigMap', metadata: { name, '@': 'x' }, data: { '@': 'kept' }, '@': { data: { polluted: 'yes' } }
    }).replaceAll('@', key)
    const { code, json, headers } = await server.post('/api/v1/namespaces/default/configmaps', text)
    t.equal(code, 201, key)
    t.equal(Object.getOwnPropertyDescriptor(json.data, key)?.value, 'kept', `${key} is data`)
    t.same(Object.keys(json.data), [key])
    t.match(headers.warning, new RegExp(`unknown field \\\\"${key}\\\\"`), 'and an unknown field')
    for (const [type, body] of [
      ['application/merge-patch+json', `{"data":{"${key}":"merged"}}`],
      ['application/json-patch+json', `[{"op":"replace","path":"/data/${key}","value":"patched"}]`]
    ] as const) {
      const patched = await server.call(
        'PATCH', `/api/v1/namespaces/default/configmaps/${name}`, body, { 'content-type': type }
      )
      t.equal(patched.code, 200, `${type} of ${key}`)
      t.equal(
        Object.getOwnPropertyDescriptor(patched.json.data, key)?.value, type.includes('merge') ? 'merged' : 'patched'
      )
    }
    const binary = await server.get(`/api/v1/namespaces/default/configmaps/${name}`, { accept: PROTOBUF })
    const copy = Buffer.from(binary.raw)
    t.equal(
      (await server.put(`/api/v1/namespaces/default/configmaps/${name}`, copy, PROTOBUF_TYPE)).code, 200,
      `${key} goes round in protobuf`
    )
    const yamlBody = (await server.get(
      `/api/v1/namespaces/default/configmaps/${name}`, { accept: 'application/yaml' }
    )).body
    const back = await server.put(`/api/v1/namespaces/default/configmaps/${name}`, yamlBody, YAML_TYPE)
    t.equal(Object.getOwnPropertyDescriptor(back.json.data, key)?.value, 'patched', `${key} goes round in YAML`)
    t.equal(
      (await server.get(`/api/v1/namespaces/default/configmaps?labelSelector=${key}`)).code,
      key === '__proto__' ? 400 : 200, 'as a label key in a selector'
    )
    t.equal(
      (await server.get(`/api/v1/namespaces/default/configmaps?fieldSelector=${key}=x`)).code, 400,
      'as a field in a selector'
    )
    t.equal(
      (await server.get(`/api/v1/namespaces/default/configmaps?${key}=x&${key}[a]=b`)).code, 200, 'as a query parameter'
    )
    t.equal(
      (await server.get('/api/v1/namespaces/default/configmaps', { accept: `application/json;${key}=x` })).code, 200,
      'as a parameter of Accept'
    )
    t.equal(
      (await server.get('/api/v1/namespaces/default/configmaps', {
        [key === '__proto__' ? 'x-proto' : key.toLowerCase()]: 'x'
      })).code,
      200,
      'as a header'
    )
    for (const path of [
      `/apis/${key}`, `/apis/${key}/v1`, `/apis/${key}/v1/${key}`, `/api/${key}`, `/api/v1/${key}`, `/${key}`,
      `/healthz/${key}`, `/api/v1/namespaces/default/configmaps/${key}`, `/api/v1/namespaces/default/${key}`,
      `/api/v1/namespaces/default/configmaps/${name}/${key}`
    ]) {
      t.match(await server.get(path), { code: 404, json: { kind: 'Status', reason: 'NotFound' } }, path)
    }
  }
  await stillServes(t, server)
})

t.test('of repeated keys the last one counts; their paths are in a warning, or in the refusal of Strict', async t => {
  const server = await build(t)
  const twice = '{"kind":"ConfigMap","metadata":{"name":"a","name":"b"},"data":{"k":"1","k":"2"}}'
  const url = '/api/v1/namespaces/default/configmaps'
  await refuses(t, server, [
    {
      title: 'Strict',
      url: `${url}?fieldValidation=Strict`,
      body: twice,
      headers: JSON_TYPE,
      says: /duplicate field "metadata.name".*duplicate field "data.k"/
    },
    {
      title: 'Strict in YAML',
      url: `${url}?fieldValidation=Strict`,
      body: 'kind: ConfigMap\nmetadata: {name: a, name: b}\n',
      headers: YAML_TYPE,
      says: /line 2: key "name" already set in map/
    }
  ])
  const made = await server.post(url, twice)
  t.match(made.json, { metadata: { name: 'b' }, data: { k: '2' } })
  t.match(made.headers.warning, /duplicate field \\"metadata.name\\"/)
})
