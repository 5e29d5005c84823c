/** Forms of large objects are made in many short steps, and are those that are made of small ones. */
import t from 'tap'
import { storedViewOf, type Shape } from '../../answers/stored-view.js'
import { formsOf } from '../../answers/large-forms.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { toJson } from '../../schemas/codec/json/encode.js'
import { decodeMessage } from '../../schemas/codec/protobuf/decode.js'
import { transcodeOnce } from '../../schemas/codec/protobuf/transcode.js'
import { translateValues } from '../../schemas/compat/objects.js'
import { PUBLIC_NAMES } from '../../schemas/compat/naming.js'
import { PartialObjectMetadata } from '../../schemas/meta/answers.js'
import { findResource } from '../schemas/find-resource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Representation } from '../../schemas/resource.js'
import { build } from '../build.js'
import { Entry } from '../../storage/cache/entry.js'

const LABELS = 8000
/** Values that one step may rename. */
const OF_A_STEP = 1024

const { message, apiVersion, kind } = findResource('', 'v1', 'configmaps') as Representation
// the members that are read
const store = { representation: { message, apiVersion, kind, conversion: undefined } } as unknown as ResourceStore

const labels = Object.fromEntries(Array.from({ length: LABELS }, (_, at) => [`app.orch.io/k${at}`, 'x'.repeat(40)]))
const large = (): ApiObject => ({
  kind, apiVersion, metadata: { name: 'a', namespace: 'd', resourceVersion: '1', labels }
} as unknown as ApiObject)
const entry = (): Entry => new Entry('/a', 1, Buffer.from(`${toJson(message, large())}\n`), undefined, ['a', 'd'])

for (const shape of [
  { protobuf: false, metadata: false }, { protobuf: true, metadata: false }, { protobuf: false, metadata: true },
  { protobuf: true, metadata: true }
]) {
  t.test(`a large object under public names, ${JSON.stringify(shape)}`, async t => {
    const view = storedViewOf(store, { naming: PUBLIC_NAMES })
    const stored = entry()
    const steps = view.inSteps(stored, shape)
    let count = 0
    while (steps.next().done !== true) count++
    t.ok(count >= 2 * LABELS / OF_A_STEP, `${count} steps`)
    t.ok(view.isReady(stored, shape), 'those who ask then need not make it')
    const shown = `${toJson(message, translateValues(message, large()))}\n`
    if (!shape.metadata) {
      t.equal(view.entry(stored).json.toString(), shown)
      if (shape.protobuf) t.ok(view.encoded(stored).equals(transcodeOnce(message, Buffer.from(shown))))
    } else if (!shape.protobuf) t.same(JSON.parse(view.metadata(stored).toString()), JSON.parse(shown).metadata)
    else {
      t.same(
        decodeMessage(PartialObjectMetadata, view.metadataMessage(stored)).metadata?.labels,
        JSON.parse(shown).metadata.labels
      )
    }
  })
}

t.test('all who ask for a form while it is made wait for the same', async t => {
  const view = storedViewOf(store, { naming: PUBLIC_NAMES })
  const stored = entry()
  const shape: Shape = { protobuf: false, metadata: false }
  await Promise.all([formsOf(view, [stored], shape), formsOf(view, [stored], shape)])
  const made = view.entry(stored)
  t.equal(formsOf(view, [stored], shape), undefined)
  t.equal(view.entry(stored), made)
})

t.test('small objects are not waited for', async t => {
  const small = new Entry(
    '/a', 1, Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}\n'), undefined, ['a', 'd']
  )
  const view = storedViewOf(store, { naming: PUBLIC_NAMES })
  t.equal(formsOf(view, [small], { protobuf: true, metadata: false }), undefined)
})

t.test('a watch sends its events in order while those of large objects are made', async t => {
  const client = await build(t, { compatNames: true })
  const url = '/api/v1/namespaces/default/configmaps'
  const names = ['a', 'b', 'c']
  const alive = setInterval(() => {}, 1000) // timers of watches keep no process alive
  t.teardown(() => { clearInterval(alive) })
  for (const name of names) {
    const { code } = await client.post(url, {
      metadata: {
        name,
        ...(name === 'b'
          ? {}
          : {
              labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [
                key.replace('orch', 'k8s'), value
              ]))
            })
      }
    })
    t.equal(code, 201)
  }
  const watch = client.get(`${url}?watch=1&timeoutSeconds=2&labelSelector=app.k8s.io/k0`)
  t.equal((await client.patch(`${url}/a`, { data: { changed: 'yes' } })).code, 200)
  const events = (await watch).body.trim()
    .split('\n')
    .map(line => JSON.parse(line) as { type: string, object: { metadata: { name: string, labels: object } } })
  t.same(events.slice(0, 2).map(({ type, object }) => [type, object.metadata.name]), [['ADDED', 'a'], ['ADDED', 'c']])
  for (const { object } of events) t.equal(Object.keys(object.metadata.labels)[0], 'app.k8s.io/k0')
})
