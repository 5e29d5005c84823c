/**
 * Informers of the public client library follow custom objects while their definitions get a new version, which becomes
 * the stored one.
 */
import t from 'tap'
import {
  CustomObjectsApi, KubeConfig, makeInformer, type Informer, type KubernetesListObject, type KubernetesObject,
  type ObjectCache
} from '@kubernetes/client-node'
import type { Json } from '../build.js'
import { definitionOf, definitions, objects, pathOf } from './custom-plays.js'
import { keepingAgent, ServerHere, until } from './server.js'

const CRDS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const NEW = 'v9'
/** Objects of each kind that are created before the new version, and after it. */
const ROUNDS = 4

type Followed = Informer<KubernetesObject> & ObjectCache<KubernetesObject>

/** There are hundreds of requests, whose handshakes would take most of the time. */
const agent = keepingAgent(t)

async function ask (server: ServerHere, path: string, method = 'GET', body?: object): Promise<Json> {
  const { code, body: text } = await server.ask(path, method, body, agent)
  if (code >= 300 || code === 0) throw new Error(`${method} ${path} was ${code}: ${text}`)
  return JSON.parse(text) as Json
}

/** Repeats a change that conflicts with somebody else's write. */
async function change (server: ServerHere, path: string, make: (object: Json) => void): Promise<void> {
  for (;;) {
    const object = await ask(server, path)
    make(object)
    const { code, body } = await server.ask(path, 'PUT', object, agent)
    if (code === 200) return
    if (code !== 409) throw new Error(`${path} was ${code}: ${body}`)
  }
}

const establish = (server: ServerHere, name: string): Promise<void> => until(
  `${name} to be established`,
  async () => JSON.stringify(
    (await ask(server, `${CRDS}/${name}`))['status'].conditions ?? []
  ).includes('InitialNamesAccepted')
)

/** The objects of an informer according to its events; fails on an event that does not follow from the earlier ones. */
class Record {
  readonly versions = new Map<string, number>()
  readonly wrong: string[] = []

  constructor (informer: Followed) {
    informer.on('add', object => { this.#note(object, 'add', this.versions.get(nameOf(object)) === undefined) })
    informer.on('update', object => {
      this.#note(object, 'update', (this.versions.get(nameOf(object)) ?? Infinity) < versionOf(object))
    })
    informer.on('delete', object => {
      if (!this.versions.delete(nameOf(object))) this.wrong.push(`delete ${nameOf(object)}`)
    })
    informer.on('error', error => { this.wrong.push(`error ${String(error)}`) })
  }

  #note (object: KubernetesObject, what: string, follows: boolean): void {
    if (!follows) this.wrong.push(`${what} ${nameOf(object)}`)
    this.versions.set(nameOf(object), versionOf(object))
  }
}

const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? ''
const versionOf = ({ metadata }: KubernetesObject): number => Number(metadata?.resourceVersion)
const sorted = (all: readonly KubernetesObject[]): Json[] => (structuredClone(all) as Json[])
  .map(({ apiVersion: _version, kind: _kind, ...object }) => object as Json)
  .sort((a, b) => nameOf(a) < nameOf(b) ? -1 : 1)

t.test('an informer has what a list has, each event once, whatever becomes of the definition', async t => {
  const server = await ServerHere.start(t)
  const config = new KubeConfig()
  config.loadFromFile(server.tokenConfig())
  const api = config.makeApiClient(CustomObjectsApi)
  for (const definition of definitions) await ask(server, CRDS, 'POST', definition)
  for (const { metadata } of definitions) await establish(server, metadata.name as string)

  await Promise.all(objects.map(async object => {
    const { apiVersion, kind } = object as { apiVersion: string, kind: string }
    const path = pathOf(object)
    const [group = '', version = ''] = apiVersion.split('/')
    const { spec: { names: { plural }, scope }, metadata: { name: definition } } = definitionOf(kind) as {
      spec: { names: { plural: string }, scope: string }
      metadata: { name: string }
    }
    const list = async (): Promise<KubernetesListObject<KubernetesObject>> => await (scope === 'Cluster'
      ? api.listClusterCustomObject({ group, version, plural })
      : api.listNamespacedCustomObject({ group, version, plural, namespace: 'default' })
    ) as KubernetesListObject<KubernetesObject>
    const informer = makeInformer(config, path, list)
    t.teardown(() => informer.stop())
    const record = new Record(informer)
    await informer.start()

    let made = 0
    /** Creates an object, changes it, and deletes the previous one. */
    const round = async (): Promise<void> => {
      const name = `${definition.split('.')[0]}-${made++}`
      await ask(server, path, 'POST', { ...object, metadata: { name } })
      await change(server, `${path}/${name}`, one => { one['metadata'].labels = { changed: 'yes' } })
      if (made % 2 === 0) await ask(server, `${path}/${definition.split('.')[0]}-${made - 2}`, 'DELETE')
    }
    const rounds = async (): Promise<void> => { for (let left = ROUNDS; left > 0; left--) await round() }
    await rounds()
    const served = change(server, `${CRDS}/${definition}`, ({ spec }) => {
      const stored = (spec.versions as Json[]).find(({ storage }) => storage)
      spec.versions = [...(spec.versions as Json[]).map(one => ({ ...one, storage: false })), { ...stored, name: NEW }]
    })
    await Promise.all([served, rounds()])
    const newPath = path.replace(`/${apiVersion}/`, `/${group}/${NEW}/`)
    await until(`${kind} to be served in ${NEW}`, async () =>
      (await server.ask(newPath, 'GET', undefined, agent)).code === 200)
    await rounds()

    const last = await ask(server, path)
    await until(
      () =>
        `the informer of ${kind} to have all of ${last['items'].length}, it has ` +
        `${JSON.stringify([...record.versions])}`,
      () => JSON.stringify(sorted(informer.list())) === JSON.stringify(sorted(last['items'] as Json[]))
    )
    t.equal(last['items'].length, 3 * ROUNDS / 2)
    t.strictSame(record.wrong, [], kind)
    t.strictSame(
      Object.fromEntries(record.versions),
      Object.fromEntries((last['items'] as Json[]).map(one => [nameOf(one), versionOf(one)])), kind
    )
    t.strictSame(
      sorted((await ask(server, newPath))['items'] as Json[]).map(nameOf), sorted(last['items'] as Json[]).map(nameOf),
      `${kind} in ${NEW}`
    )
    await informer.stop()
  }))
})
