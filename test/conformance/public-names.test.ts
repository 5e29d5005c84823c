/**
 * Every kind, in every version, under public names, `compatNames`: what is read by one name is what was written by the
 * other.
 */
import t from 'tap'
import { translatePath } from '../../schemas/compat/requests.js'
import { publicMessage } from '../../schemas/compat/definitions.js'
import { translateValues } from '../../schemas/compat/objects.js'
import { toJson } from '../../schemas/codec/json/encode.js'
import { decode } from '../../schemas/language/decode.js'
import type { Json } from '../build.js'
import { nameOf } from '../samples.js'
import { create, eachServed, title, urlOf } from './collections.js'

const OWN = 'application/vnd.orch.protobuf;q=0.1, application/json'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const NAMES = {
  labels: { 'orch.io/os': 'linux', of: 'sample' },
  annotations: { 'orch.io/description': 'orch-system', note: 'orch.io/os' },
  finalizers: ['orch.io/pvc-protection']
}

/** Templates have an empty time of creation in some releases. */
const undated = (json: string): Json =>
  JSON.parse(json, (key, value: unknown) => key === 'creationTimestamp' && value === null ? undefined : value) as Json

t.test('an object of every kind is read, written and patched by either name, in every version', async t => {
  for await (const { server, one } of eachServed(t, { compatNames: true })) {
    await t.test(title(one), async t => {
      const own = `${urlOf(one)}/${nameOf(one.group, one.plural)}`
      const path = translatePath(own)
      const read = async (): Promise<Json> => (await server.get(own, { accept: OWN })).json
      await create(
        {
          ...server,
          post: (url, body, headers) =>
            server.post(url, body, { accept: OWN, 'content-type': 'application/json', ...headers })
        },
        one
      )
      await server.call(
        'PATCH', own, { metadata: one.kind === 'Namespace' ? { ...NAMES, finalizers: undefined } : NAMES },
        { accept: OWN, 'content-type': 'application/merge-patch+json' }
      )
      const before = await read()
      t.match(before, {
        apiVersion: one.apiVersion, metadata: { labels: NAMES.labels, annotations: NAMES.annotations }
      })

      const shown = await server.get(path)
      t.equal(shown.code, 200)
      t.match(shown.json.metadata, {
        labels: { 'kubernetes.io/os': 'linux' },
        annotations: { 'kubernetes.io/description': 'orch-system', note: 'orch.io/os' }
      })
      t.notMatch(JSON.stringify({ ...shown.json, metadata: { ...shown.json.metadata, annotations: {} } }), /orch\.io/)
      const { object } = decode(publicMessage(one.message), translateValues(one.message, JSON.parse(shown.body)))
      t.same(undated(toJson(one.message, object as never)), undated(JSON.stringify(before)), 'and back it is the same')
      const list = (await server.get(translatePath(urlOf(one)))).json
      t.match(list, { kind: one.listKind, apiVersion: shown.json.apiVersion })
      t.strictSame(list.items.find(({ metadata }: Json) => metadata.uid === shown.json.metadata.uid), shown.json)

      if (one.verbs.includes('update')) {
        t.strictSame(
          (await server.put(path, shown.json)).json, shown.json, 'an update that changes nothing changes nothing'
        )
        const binary = await server.get(path, { accept: PROTOBUF })
        t.equal(binary.headers['content-type'], PROTOBUF)
        t.strictSame(
          (await server.call('PUT', path, binary.raw, { 'content-type': PROTOBUF })).json, shown.json, 'as protobuf'
        )
        t.strictSame(await read(), before)
      }
      if (one.verbs.includes('patch')) {
        const patched = await server.patch(path, {
          metadata: { labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': null }, finalizers: null }
        })
        t.match(patched, { code: 200, json: { metadata: { labels: { 'kubernetes.io/arch': 'amd64' } } } })
        t.notOk('kubernetes.io/os' in patched.json.metadata.labels)
        const { labels } = (await read())['metadata']
        t.match(labels, { of: 'sample', 'orch.io/arch': 'amd64' })
        t.notOk('orch.io/os' in labels)
      }
      t.equal(
        (await server.get(`${translatePath(urlOf(one))}?labelSelector=kubernetes.io/arch,of=sample`)).json.items.length,
        1
      )
      await server.delete(path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })
    })
  }
})
