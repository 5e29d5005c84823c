/** Servers that allocate addresses to services, and the allocated values in their stores. */
import Fastify from '../../fastify.js'
import { server as orch, type ServerOptions } from '../../../app.js'
import type { Backend } from '../../../storage/backend.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import type { ServiceAllocation } from '../../../registry/services/allocation.js'
import { client, type Test, type Json, type Client } from '../../build.js'
import { loadedServer } from '../../../plugins/shared/plugin.js'
import { polled } from '../../polled.js'

export const SERVICES = '/api/v1/namespaces/default/services'

export interface ServiceServer extends Client {
  readonly resources: ResourceRegistry
  readonly allocation: ServiceAllocation
  readonly backend: Backend
  /** Names of allocated values, sorted. */
  taken: (what: 'serviceips' | 'servicenodeports') => Promise<string[]>
  make: (name: string, spec?: Json) => ReturnType<Client['post']>
}

export async function serviceServer (
  t: Test, services: NonNullable<ServerOptions['services']> = { clusterIPRanges: ['10.0.0.0/24'] },
  options: ServerOptions = {}
): Promise<ServiceServer> {
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  let found: Pick<ServiceServer, 'resources' | 'allocation' | 'backend'> | undefined
  await app.register(async scope => {
    await orch(scope, { ...options, services })
    const { orchResources: resources, orchServices: allocation } = loadedServer(scope)
    const store = resources.find('', 'services')
    if (store !== undefined && allocation !== undefined) found = { resources, allocation, backend: store.backend }
  })
  await app.ready()
  await polled(async () => (await app.inject('/readyz')).statusCode === 200)
  if (found === undefined) throw new Error('the server allocates nothing')
  const { backend } = found
  const made = client(app)
  return {
    ...made,
    ...found,
    taken: async what => {
      const scope = `/registry/ranges/${what}/`
      return (await backend.list({
        start: scope, end: `${scope.slice(0, -1)}0`
      })).kvs.map(({ key }) => key.slice(scope.length)).sort()
    },
    make: (name, spec = {}) =>
      made.post(SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }], selector: { app: 'web' }, ...spec } })
  }
}
