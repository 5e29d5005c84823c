/** Objects of every type in each media type of `--storage-media-type`; servers with another one read them too. */
import t from 'tap'
import { inspect } from 'node:util'
import { decodeStored, STORAGE_MEDIA_TYPES, type StorageMediaType } from '../../registry/stored-form.js'
import { MAGIC as PROTOBUF_MAGIC } from '../../schemas/codec/protobuf/encode.js'
import { types } from '../../schemas/resources.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../../schemas/media-types.js'
import type { Backend } from '../../storage/backend.js'
import { openBackend } from '../../storage/open.js'
import { build } from '../build.js'
import { ALL, create, creation, isEmptied, stored, title } from '../conformance/collections.js'

const STARTS: Readonly<Record<string, string>> = {
  [JSON_TYPE]: '{"', [YAML_TYPE]: 'kind: ', [PROTOBUF_TYPE]: Buffer.from(PROTOBUF_MAGIC).toString('latin1')
}
const ofStoredVersion = stored.filter(one => one.type.stored === one && !isEmptied(one))

/** The back end with an option, as a host gives it. */
const writing = (backend: Backend, mediaType: StorageMediaType): Backend & { mediaType: StorageMediaType } =>
  new Proxy(backend as Backend & { mediaType: StorageMediaType }, {
    get: (target, name) => {
      if (name === 'mediaType') return mediaType
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) as unknown : member
    }
  })

for (const mediaType of STORAGE_MEDIA_TYPES) {
  t.test(mediaType, async t => {
    const backend = await openBackend({ kind: 'memory' })
    t.teardown(() => backend.close())
    const writer = await build(t, { ...ALL, storage: writing(backend, mediaType) })
    const made = new Map<string, unknown>()
    for (const one of ofStoredVersion) made.set(title(one), await create(writer, one))
    const large = await writer.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'large' }, data: { key: 'x: [y]\n'.repeat(4000), 'y.yaml': 'no' }
    })
    t.equal(large.code, 201)
    const { kvs } = await backend.list({ start: '/registry/', end: '/registry0' })
    for (const { key, value } of kvs) {
      const start = key.endsWith('/large') && mediaType === YAML_TYPE ? '{"' : STARTS[mediaType] as string
      if (!key.startsWith('/registry/ranges/')) {
        t.equal(Buffer.from(value).toString('latin1', 0, start.length), start, key)
      }
    }
    for (const other of STORAGE_MEDIA_TYPES) {
      const reader = await build(t, { ...ALL, storage: writing(backend, other) })
      for (const one of ofStoredVersion) {
        const { json } = await reader.get(creation(one).url)
        t.ok(
          (json.items as unknown[]).some(item => JSON.stringify(item) === JSON.stringify(made.get(title(one)))),
          `${title(one)} by a server of ${other}`
        )
      }
      t.same((await reader.get('/api/v1/namespaces/default/configmaps/large')).json, large.json)
    }
  })
}

t.test('no error of a stored value quotes it', t => {
  const secrets = types.find(({ plural }) => plural === 'secrets')
  if (secrets === undefined) throw new Error('there are no secrets')
  const whole = (members: string): string => `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},${members}}`
  for (const text of [
    whole('"data":{"p":sesame}'), whole('"data":"sesame"'), whole('"immutable":"sesame"'),
    whole('"immutable":"say \\"sesame\\" twice"'), '{"kind":"sesame","apiVersion":"v1"}',
    '{"kind":"Secret","apiVersion":"sesame"}',
    '{"kind":"Secret","apiVersion":"v1","metadata":{"creationTimestamp":"sesame"}}', 'sesame', '"sesame"',
    'kind: Secret\napiVersion: v1\ndata: "sesame', 'kind: Secret\napiVersion: v1\nimmutable: sesame'
  ]) {
    let error: unknown
    try {
      decodeStored(secrets, Buffer.from(text))
    } catch (thrown) {
      error = thrown
    }
    t.type(error, Error, text)
    t.notMatch(inspect(error), 'sesame', text)
  }
  t.end()
})
