/**
 * Writers that go on creating objects in namespaces while these are deleted. No object may outlive its namespace.
 * `NAMESPACE_RACES` in the environment is the number of namespaces, if a few hundred are too few.
 */
import Fastify from '../fastify.js'
import { server as orch, type AdmissionPlugin, type ServerOptions } from '../../app.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isStatusError } from '../../schemas/status.js'
import { create } from '../../registry/verbs/create.js'
import { remove } from '../../registry/verbs/delete.js'
import { current } from '../../registry/current.js'
import type { WriteContext } from '../../registry/write-context.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { Test } from '../build.js'
import { polled } from '../polled.js'

const WRITERS = 4
const AT_ONCE = 16
/** Milliseconds: from less than the deletion of a namespace takes in memory to more than it takes over etcd. */
const DELAYS = [0, 0, 2, 5, 20, 80]
export const context: WriteContext = { dryRun: false, caller: new AbortController() }
const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

/**
 * A host's admission plugin that delays some objects, as a webhook would: the state on which the decision rests may
 * change meanwhile.
 */
function slow (): AdmissionPlugin {
  let judged = 0
  return {
    name: 'Slow',
    handles: ({ operation, resource }) => operation === 'CREATE' && resource === 'configmaps',
    validate: async () => {
      const milliseconds = DELAYS[judged++ % DELAYS.length] ?? 0
      if (milliseconds > 0) await new Promise(resolve => { setTimeout(resolve, milliseconds) })
    }
  }
}

export const races = (few: number): number => Number(process.env['NAMESPACE_RACES'] ?? few)

/** The stores of a server with all controllers of namespaces, ready to serve. */
export async function registry (t: Test, options: ServerOptions): Promise<ResourceRegistry> {
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  let found: ResourceRegistry | undefined
  await app.register(async scope => {
    await orch(scope, { admission: { plugins: [slow()] }, ...options })
    found = scope.orchResources
  })
  await app.ready()
  await polled(async () => (await app.inject('/readyz')).statusCode === 200)
  if (found === undefined) throw new Error('the server has no resources')
  return found
}

export function storeOf (resources: ResourceRegistry, plural: string): ResourceStore {
  const store = resources.find('', plural)
  if (store === undefined) throw new Error(`there are no ${plural}`)
  return store
}

export const makeNamespace = async (resources: ResourceRegistry, name: string): Promise<unknown> =>
  await create(
    storeOf(resources, 'namespaces'),
    { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: {}, status: {} } as ApiObject,
    { namespace: '', name: '' }, context
  )

export const makeConfig = async (resources: ResourceRegistry, namespace: string, name: string): Promise<unknown> =>
  await create(
    storeOf(resources, 'configmaps'), { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } },
    { namespace, name: '' }, context
  )

/** Keys of any kind in a namespace. */
export async function leftIn (resources: ResourceRegistry, namespace: string): Promise<string[]> {
  const found: string[] = []
  for (const store of resources.all().filter(({ type }) => type.namespaced)) {
    found.push(...(await store.backend.list(store.keys.range(namespace))).kvs.map(({ key }) => key))
  }
  return found
}

/** Starts the namespace's deletion. */
export const mark = async (resources: ResourceRegistry, name: string): Promise<unknown> =>
  await remove(storeOf(resources, 'namespaces'), { namespace: '', name }, {}, context)

export async function deleted (resources: ResourceRegistry, name: string): Promise<void> {
  const store = storeOf(resources, 'namespaces')
  await mark(resources, name)
  await polled(async () => await current(store, store.keys.of('', name)) === undefined)
}

export interface Raced {
  readonly namespaces: number
  readonly accepted: number
  /** What outlived its namespace. */
  readonly left: string[]
  /** Refusals for another reason than a terminating or missing namespace. */
  readonly failures: string[]
}

/** Creates, fills and deletes each namespace through servers in turn. */
export async function race (servers: readonly ResourceRegistry[], namespaces: number): Promise<Raced> {
  const left: string[] = []
  const failures: string[] = []
  let accepted = 0
  // there is one at least
  const server = (at: number): ResourceRegistry => servers[at % servers.length] as ResourceRegistry

  const write = async (round: number, writer: number, begun: () => void): Promise<void> => {
    for (let at = 0; ; at++) {
      try {
        await makeConfig(server(round + writer), `race-${round}`, `c-${writer}-${at}`)
        accepted++
        begun()
        await turn() // in memory a write takes no turn
      } catch (error) {
        if (!isStatusError(error, 'Forbidden') && !isStatusError(error, 'NotFound')) failures.push(String(error))
        return
      }
    }
  }
  const one = async (round: number): Promise<void> => {
    const name = `race-${round}`
    await makeNamespace(server(round), name)
    let writers: Array<Promise<void>> = []
    await new Promise<void>(resolve => {
      writers = Array.from({ length: WRITERS }, (_, writer) => write(round, writer, resolve))
    })
    for (let wait = round % 5; wait > 0; wait--) await turn()
    await deleted(server(round + 1), name)
    await Promise.all(writers)
    left.push(...await leftIn(server(round), name))
  }
  const rounds = Array.from({ length: namespaces }, (_, round) => round).values()
  await Promise.all(Array.from({ length: AT_ONCE }, async () => { for (const round of rounds) await one(round) }))
  return { namespaces, accepted, left, failures }
}
