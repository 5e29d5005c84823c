/** Interface, 'Binary envelope': decoded and encoded by hand, byte by byte. */
import t from 'tap'
import { BINDINGS, PROTOBUF, build, binding, type Json } from '../build.js'

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** The fields of a message by number: numbers unchanged, all else as bytes. */
function fields (bytes: Buffer): Map<number, Array<Buffer | number>> {
  const found = new Map<number, Array<Buffer | number>>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('cut short')
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const number = tag >>> 3
    let value: Buffer | number
    if ((tag & 7) === 0) value = varint()
    else if ((tag & 7) === 2) {
      const length = varint()
      value = bytes.subarray(at, at += length)
      if (value.length !== length) throw new Error('cut short')
    } else throw new Error(`wire type ${tag & 7}`)
    found.set(number, [...found.get(number) ?? [], value])
  }
  return found
}

// a nested message is bytes
const message = (
  map: Map<number, Array<Buffer | number>>, number: number
): Map<number, Array<Buffer | number>> => fields(map.get(number)?.[0] as Buffer)
const text = (
  map: Map<number, Array<Buffer | number>>, number: number
): string | undefined => map.get(number)?.[0]?.toString()

function field (number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string) // both are copied
  const length: number[] = []
  let rest = bytes.length
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push(rest % 128 | 128)
  return Buffer.concat([Buffer.from([number << 3 | 2, ...length, rest]), bytes])
}

/** Unknown: typeMeta 1, raw 2, contentEncoding 3, contentType 4. */
function opened (bytes: Buffer): {
  apiVersion: string | undefined
  kind: string | undefined
  raw: Map<number, Array<Buffer | number>>
  envelope: Map<number, Array<Buffer | number>>
} {
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw new Error(`begins with ${bytes.subarray(0, 4).toString('hex')}`)
  const envelope = fields(bytes.subarray(4))
  const type = message(envelope, 1)
  return { apiVersion: text(type, 1), kind: text(type, 2), raw: message(envelope, 2), envelope }
}

t.test('an object: the magic prefix, the type, the whole object, neither encoding nor type of content', async t => {
  const server = await build(t)
  const { json } = await server.post(BINDINGS, binding('a', { metadata: { labels: { app: 'web' } } }))
  const { raw: bytes, headers } = await server.get(`${BINDINGS}/a`, { accept: PROTOBUF })
  t.equal(headers['content-type'], PROTOBUF)
  const { apiVersion, kind, raw, envelope } = opened(bytes)
  t.equal(apiVersion, 'rbac.authorization.orch.io/v1')
  t.equal(kind, 'ClusterRoleBinding')
  t.ok(!envelope.get(3)?.[0]?.toString(), 'no encoding')
  t.ok(!envelope.get(4)?.[0]?.toString(), 'no content type')
  const metadata = message(raw, 1)
  t.equal(text(metadata, 1), 'a')
  t.equal(text(metadata, 5), json.metadata.uid)
  t.equal(text(metadata, 6), json.metadata.resourceVersion)
  t.equal(message(metadata, 8).get(1)?.[0], Date.parse(json.metadata.creationTimestamp) / 1000)
  const label = message(metadata, 11)
  t.same([text(label, 1), text(label, 2)], ['app', 'web'])
  const subject = message(raw, 2)
  t.same([1, 2, 3].map(number => text(subject, number)), ['User', 'rbac.authorization.orch.io', 'ann'])
  const roleRef = message(raw, 3)
  t.same([1, 2, 3].map(number => text(roleRef, number)), ['rbac.authorization.orch.io', 'ClusterRole', 'view'])
})

t.test('a list and a Status come in it too', async t => {
  const server = await build(t)
  for (const name of ['a', 'b', 'c']) await server.post(BINDINGS, binding(name))
  const { raw: bytes } = await server.get(`${BINDINGS}?limit=2`, { accept: PROTOBUF })
  const { apiVersion, kind, raw } = opened(bytes)
  t.same([apiVersion, kind], ['rbac.authorization.orch.io/v1', 'ClusterRoleBindingList'])
  const meta = message(raw, 1)
  t.match(text(meta, 2), /^\d+$/)
  t.ok(text(meta, 3), 'a token')
  t.equal(meta.get(4)?.[0], 1, 'remainingItemCount')
  t.same(raw.get(2)?.map(item => text(message(fields(item as Buffer), 1), 1)), ['a', 'b'])
  const missing = await server.get(`${BINDINGS}/none`, { accept: PROTOBUF })
  t.equal(missing.code, 404)
  const status = opened(missing.raw)
  t.same([status.apiVersion, status.kind], ['v1', 'Status'])
  t.same([text(status.raw, 2), text(status.raw, 4), status.raw.get(6)?.[0]], ['Failure', 'NotFound', 404])
  const deleted = await server.call('DELETE', `${BINDINGS}/a`, undefined, { accept: PROTOBUF })
  t.equal(text(opened(deleted.raw).raw, 2), 'Success')
})

t.test('a body by hand is read, its type said or left out', async t => {
  const server = await build(t)
  const object = (name: string): Buffer => Buffer.concat([
    field(1, field(1, name)), field(2, Buffer.concat([field(1, 'Group'), field(3, 'crew')])),
    field(3, Buffer.concat([field(1, 'rbac.authorization.orch.io'), field(2, 'ClusterRole'), field(3, 'edit')]))
  ])
  const type = field(1, Buffer.concat([field(1, 'rbac.authorization.orch.io/v1'), field(2, 'ClusterRoleBinding')]))
  const send = (body: Buffer): ReturnType<typeof server.post> =>
    server.post(BINDINGS, Buffer.concat([MAGIC, body]), { 'content-type': PROTOBUF })
  const made = await send(Buffer.concat([type, field(2, object('a'))]))
  t.match(made, {
    code: 201,
    json: {
      kind: 'ClusterRoleBinding',
      metadata: { name: 'a' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.orch.io', name: 'crew' }],
      roleRef: { name: 'edit' }
    }
  })
  t.equal((await send(field(2, object('b')))).code, 201, 'without a type')
  t.equal(
    (await send(Buffer.concat([type, field(2, object('c')), field(4, PROTOBUF)]))).code, 201,
    'with the usual content type said'
  )
  t.equal(
    (await send(Buffer.concat([
      type, field(2, Buffer.concat([object('d'), field(15, 'unknown')])), field(14, 'unknown')
    ]))).code,
    201,
    'unknown fields are skipped'
  )
  t.equal(
    (await send(Buffer.concat([
      field(1, Buffer.concat([field(1, 'v1'), field(2, 'Secret')])), field(2, object('e'))
    ]))).code,
    400,
    'another type is refused'
  )
  t.equal(
    (await server.post(BINDINGS, field(2, object('f')), { 'content-type': PROTOBUF })).code, 400,
    'and so is another prefix'
  )
})

t.test('an object that is read in protobuf and sent back is unchanged', async t => {
  const server = await build(t)
  for (const [url, body] of [
    [
      BINDINGS,
      binding('a', {
        metadata: {
          annotations: { text: 'ü\u{1f600}\n', empty: '' },
          finalizers: ['example.com/x'],
          ownerReferences: [
            {
              apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', controller: true, blockOwnerDeletion: false
            }
          ]
        }
      })
    ],
    [
      '/apis/rbac.authorization.orch.io/v1/clusterroles',
      {
        metadata: { name: 'a' },
        rules: [
          { verbs: ['get'], apiGroups: ['', 'apps'], resources: ['*'], resourceNames: ['x'] },
          { verbs: ['get'], nonResourceURLs: ['/healthz'] }
        ]
      }
    ],
    [
      '/api/v1/namespaces/default/configmaps',
      {
        metadata: { name: 'a' },
        data: { text: 'x\ny', '': undefined },
        binaryData: { bytes: 'AAEC/w==' },
        immutable: false
      }
    ],
    ['/api/v1/namespaces/default/secrets', { metadata: { name: 'a' }, data: { bytes: 'AAEC/w==' }, type: 'Opaque' }],
    [
      '/api/v1/namespaces/default/serviceaccounts',
      { metadata: { name: 'a' }, secrets: [{ name: 's' }], automountServiceAccountToken: false }
    ]
  ] as ReadonlyArray<readonly [string, Json]>) {
    const { code, json } = await server.post(url, body)
    t.equal(code, 201, url)
    const { raw } = await server.get(`${url}/a`, { accept: PROTOBUF })
    const back = await server.put(`${url}/a`, raw, { 'content-type': PROTOBUF })
    t.equal(back.code, 200)
    t.same(back.json, json, `${url}: and nothing was written, as nothing changed`)
  }
})
