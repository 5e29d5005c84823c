/**
 * `node dist/test/benchmarks/services.js [SERVICES]`: fills a range with that many services (50,000) and reports the
 * cost of the first and last thousands, and the duration of a repair run. Not part of `npm run bench`, because its
 * figures have no limits.
 */
import { decode } from '../../schemas/language/decode.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { Service, services } from '../../schemas/api/core/services.js'
import { AdmissionChain } from '../../admission/chain.js'
import { openBackend } from '../../storage/open.js'
import { create } from '../../registry/verbs/create.js'
import { ResourceRegistry } from '../../registry/resource-registry.js'
import { ServiceAllocation } from '../../registry/services/allocation.js'
import { ServiceRepair } from '../../controllers/services/repair.js'

const COUNT = Number(process.argv[2] ?? 50_000)
const AT_ONCE = 64
const STEP = Math.max(1, Math.floor(COUNT / 5))
const context = { dryRun: false, caller: new AbortController() }
const log = (message: string, error: unknown): void => { console.error(message, error) }

const backend = await openBackend({})
// The smallest range with room for all.
const bits = Math.max(3, Math.ceil(Math.log2(COUNT + 3)))
const allocation = new ServiceAllocation({
  backend, prefix: '/registry', clusterIPRanges: [`10.0.0.0/${32 - bits}`], log
})
const resources = new ResourceRegistry({
  backendOf: () => backend, windowSizeOf: () => 100, prefix: '/registry', mediaType: 'application/vnd.orch.protobuf',
  admission: new AdmissionChain([]), log,
  allocationOf: () => allocation
})
const store = resources.add(services)
await resources.open()

async function make (name: string): Promise<void> {
  const object: ApiObject = decode(Service, {
    metadata: { name, namespace: 'default' }, spec: { ports: [{ port: 80 }], selector: { app: name } }
  }).object
  await create(store, object, { namespace: 'default', name: '' }, context)
}

for (let from = 0; from < COUNT; from += STEP) {
  const names = Array.from({ length: Math.min(STEP, COUNT - from) }, (_, index) => `s${from + index}`)
  const began = performance.now()
  const queue = names.values()
  await Promise.all(Array.from({ length: AT_ONCE }, async () => { for (const name of queue) await make(name) }))
  const each = (performance.now() - began) / names.length * 1000
  console.log(`${from} to ${from + names.length} services: ${each.toFixed(0)} µs each`)
}
const began = performance.now()
await new ServiceRepair({ resources, allocation, log, note: text => { console.log(text) } }).run()
console.log(`a look at all of it: ${(performance.now() - began).toFixed(0)} ms`)
resources.close()
await backend.close()
