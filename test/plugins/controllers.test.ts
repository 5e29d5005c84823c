import t from 'tap'
import type { OrchDecorators } from '../../plugins/shared/server.js'
import Fastify from '../fastify.js'
import { server as orch, type AdmissionPlugin } from '../../app.js'
import aggregation from '../../plugins/aggregation/index.js'
import controllers from '../../plugins/controllers/index.js'
import metrics from '../../plugins/metrics/index.js'
import fp from 'fastify-plugin'
import type { Health } from '../../plugins/health.js'
import { ResourceRegistry } from '../../registry/resource-registry.js'
import { openMemory } from '../../storage/embedded/memory.js'
import { AdmissionChain } from '../../admission/chain.js'
import { StorageError } from '../../storage/errors.js'
import { current } from '../../registry/current.js'
import { makeConfig, makeNamespace, mark } from '../controllers/namespace-race.js'
import { namespaces } from '../stored.js'
import { DEFAULT_GATES } from '../../schemas/gates.js'
import { bareServer } from './bare-server.js'
import { polled } from '../polled.js'

const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

t.test('the namespaces of the cluster are a condition of readiness, made as soon as the store takes them', async t => {
  const backend = openMemory()
  const resources = new ResourceRegistry({
    backendOf: () => backend,
    prefix: '/registry',
    mediaType: 'application/json',
    windowSizeOf: () => 100,
    admission: new AdmissionChain([]),
    log: () => {}
  })
  const store = resources.add(namespaces.type)
  await resources.open()
  const { create } = backend
  backend.create = async () => { throw new StorageError('Unavailable', 'no store yet') }
  const hooks = new Map<string, PromiseLike<unknown>>()
  const health: Health = {
    add: () => {}, postStart: (name, work) => { hooks.set(name, work) }, run: () => [], ready: async () => true
  }
  const log: string[] = []
  const app = await bareServer({
    decorators: {
      orchHealth: health,
      orchResources: resources,
      orchSettings: { featureGates: DEFAULT_GATES } as unknown as OrchDecorators['orchSettings'],
      orchShutdown: { signal: new AbortController().signal } as unknown as OrchDecorators['orchShutdown'],
      orchAuthentication: { tokens: {} } as unknown as OrchDecorators['orchAuthentication'],
      orchAuthorization: {} as unknown as OrchDecorators['orchAuthorization'],
      orchConversionCaller: {} as unknown as OrchDecorators['orchConversionCaller'],
      orchServices: undefined
    }, log: ({ msg }) => { log.push(String(msg)) }
  })
  t.teardown(async () => {
    await app.close()
    resources.close()
    await backend.close()
  })
  for (const name of ['orch/health', 'orch/egress', 'orch/storage', 'orch/shutdown']) {
    await app.register(fp(async () => {}, { name }))
  }
  await app.register(metrics)
  await app.register(aggregation, {})
  await app.register(controllers)
  await app.ready()
  t.same(
    [...hooks.keys()],
    [
      'bootstrap-system-namespaces', 'scheduling/bootstrap-system-priority-classes', 'crd-informer-synced',
      'apiservice-registration-controller'
    ]
  )
  while (log.length === 0) await turn()
  t.same(log, ['the namespaces of the cluster could not be made, retrying'])
  backend.create = create
  const alive = setInterval(() => {}, 1000) // its waits do not keep the process alive
  t.teardown(() => { clearInterval(alive) })
  await hooks.get('bootstrap-system-namespaces')
  for (const name of ['default', 'orch-system', 'orch-public', 'orch-node-lease']) {
    t.ok(await current(store, store.keys.of('', name)) !== undefined, name)
  }
})

t.test('work in progress is finished before the store is closed', async t => {
  const seen: string[] = []
  let begun = (): void => {}
  const deleting = new Promise<void>(resolve => { begun = resolve })
  const slow: AdmissionPlugin = {
    name: 'Slow',
    handles: ({ operation, resource }) => operation === 'DELETE' && resource === 'configmaps',
    validate: async () => {
      seen.push('begun')
      begun()
      for (let wait = 0; wait < 20; wait++) await turn()
      seen.push('ended')
    }
  }
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  let resources: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, { admission: { plugins: [slow] } })
    resources = scope.orchResources
  })
  await app.ready()
  if (resources === undefined) throw new Error('the server has no resources')
  await polled(async () => (await app.inject('/readyz')).statusCode === 200)
  const { close } = resources
  resources.close = function () { seen.push('stores closed'); close.call(this) }
  await makeNamespace(resources, 'team')
  await makeConfig(resources, 'team', 'one')
  await mark(resources, 'team')
  await deleting
  await app.close()
  t.same(seen, ['begun', 'ended', 'stores closed'])
})
