/** Between the stored version of autoscalers and the others. */
import t from 'tap'
import { create } from '../../registry/verbs/create.js'
import { AdmissionChain } from '../../admission/chain.js'
import { ResourceStore } from '../../registry/resource-store.js'
import { UNBOUNDED } from '../../schemas/codec/json/parse.js'
import { decode } from '../../schemas/language/decode.js'
import type { Representation } from '../../schemas/resource.js'
import { types } from '../../schemas/resources.js'
import { finish } from '../../schemas/steps.js'
import { openMemory } from '../../storage/embedded/memory.js'
import { context, target } from '../storage/store.js'

const type = types.find(({ plural }) => plural === 'horizontalpodautoscalers')
if (type === undefined) throw new Error('there are no autoscalers')
const store = new ResourceStore({
  type,
  backend: openMemory(),
  prefix: '/registry',
  mediaType: 'application/vnd.orch.protobuf',
  admission: new AdmissionChain([]),
  windowSize: 100,
  log: () => {}
})
t.teardown(() => { store.close() })
const representation = type.representations.find(({ conversion }) => conversion !== undefined) as Representation
const other = store.forVersion(representation)

const autoscaler = ({ message, apiVersion }: Representation) => decode(message, {
  apiVersion, kind: 'HorizontalPodAutoscaler', metadata: { name: 'a', namespace: 'default' },
  spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } }
}, UNBOUNDED).object

t.test('in the stored version nothing is converted: entries and objects are the same', async t => {
  const entry = store.entries.of('/registry/a', autoscaler(type.stored), 7)
  t.equal(store.conversion.forClients(entry), entry)
  t.equal(finish(store.conversion.onceForClients(entry)), entry)
  const sent = autoscaler(type.stored)
  t.equal(finish(store.conversion.fromSent(sent)), sent)
  t.equal(store.conversion.asStored(sent), sent)
  t.equal(store.conversion.written, type.stored)
})

t.test('in another version an entry is made once and kept beside the stored one', async t => {
  const [{ cache }, key] = [store, store.keys.of('default', 'a')]
  if (cache === undefined) throw new Error('the store has no cache')
  await store.open()
  await create(store, autoscaler(type.stored), target(''), context)
  await cache.fresh()
  const entry = cache.get(key)
  if (entry === undefined) throw new Error('the cache does not have what was created')
  const kept = other.conversion.forClients(entry)
  t.equal(other.conversion.forClients(entry), kept)
  t.match(kept.object, { apiVersion: representation.apiVersion, metadata: { resourceVersion: String(entry.revision) } })
  const once = finish(other.conversion.onceForClients(entry))
  t.not(once, kept)
  t.equal(String(once.json), String(kept.json))
})

t.test('what a client sends gets the defaults of its version, and those of the stored one', async t => {
  const stored = finish(other.conversion.fromSent(autoscaler(representation)))
  t.equal(stored.apiVersion, type.stored.apiVersion)
  t.match(stored, { spec: { minReplicas: 1, maxReplicas: 3 } })
})
