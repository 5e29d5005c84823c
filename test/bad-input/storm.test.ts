import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { BINDINGS, Watch, listen, binding, type Event, type Json, type Answer, type Listening } from '../build.js'
import { random } from '../random.js'
import { stillServes } from './refusal.js'

const dice = random()
const NAMES = 12
const CLIENTS = 24
const REQUESTS = 3000
const JSON_PATCH = 'application/json-patch+json'

interface Write {
  readonly what: string
  readonly name: string
  readonly code: number
  /** The object or Status that came back. */
  readonly json: Json
  /** The resourceVersion that the request named, if any. */
  readonly expected?: string | undefined
}

const pick = <T>(values: readonly T[]): T => values[dice.int(values.length)] as T // the index is within bounds

/** Various invalid requests; each is refused whatever else happens. */
const NONSENSE: ReadonlyArray<(server: Listening, name: string) => Promise<Answer>> = [
  (server, name) => server.post(BINDINGS, `{"metadata":{"name":"${name}"`),
  (server, name) => server.post(BINDINGS, { ...binding(name), subjects: 'x' }),
  (server, name) => server.put(`${BINDINGS}/${name}`, binding('another')),
  (server, name) => server.put(`${BINDINGS}/${name}`, { ...binding(name), roleRef: {} }),
  (server, name) => server.patch(`${BINDINGS}/${name}`, '['),
  (server, name) =>
    server.patch(`${BINDINGS}/${name}`, [{ op: 'replace', path: '/subjects/4294967296', value: 1 }], JSON_PATCH),
  (server, name) => server.patch(`${BINDINGS}/${name}`, {}, 'text/plain'),
  (server, name) =>
    server.patch(`${BINDINGS}/${name}`, '{"__proto__":{"a":1},"metadata":{"labels":{"__proto__":"x"}}}'),
  (server, name) => server.call('DELETE', `${BINDINGS}/${name}?propagationPolicy=Never`),
  (server, name) => server.call('DELETE', `${BINDINGS}/${name}`, { preconditions: { uid: 'nobody' } }),
  server => server.get(`${BINDINGS}?limit=x`),
  server => server.get(`${BINDINGS}?continue=x`),
  server => server.get(`${BINDINGS}?labelSelector=((`),
  server => server.call('DELETE', `${BINDINGS}?fieldSelector=spec.none%3D1`),
  (server, name) => server.get(`${BINDINGS}/${name}?resourceVersion=x`)
]

/** Sends one random request. Returns the write, if it may have been one. */
async function act (server: Listening, id: number): Promise<Write | undefined> {
  const name = `n-${dice.int(NAMES)}`
  const url = `${BINDINGS}/${name}`
  const finalizers = dice.int(4) === 0 ? ['example.com/hold'] : []
  const body = binding(name, { metadata: { name, labels: { id: String(id) }, finalizers } })
  const dry = dice.int(10) === 0 ? '?dryRun=All' : ''
  const write = (what: string, { code, json }: Answer, expected?: string): Write | undefined =>
    dry === '' ? { what, name, code, json, expected } : undefined
  switch (dice.int(9)) {
    case 0: case 1: return write('create', await server.post(`${BINDINGS}${dry}`, body))
    case 2: return write('put', await server.put(`${url}${dry}`, body))
    case 3: {
      const found = await server.get(url)
      if (found.code !== 200) return undefined
      const { resourceVersion } = found.json.metadata
      return write(
        'update',
        await server.put(`${url}${dry}`, {
          ...found.json, metadata: { ...found.json.metadata, labels: { id: String(id) } }
        }),
        resourceVersion
      )
    }
    case 4: return write(
      'merge',
      await server.call(
        'PATCH', `${url}${dry}`, JSON.stringify({ metadata: { labels: { id: String(id) } } }),
        { 'content-type': 'application/merge-patch+json' }
      )
    )
    case 5: return write(
      'patch',
      await server.call(
        'PATCH',
        `${url}${dry}`,
        JSON.stringify(
          dice.int(2) === 0
            ? [{ op: 'add', path: '/metadata/labels', value: { id: String(id) } }]
            : [{ op: 'remove', path: '/metadata/finalizers' }]
        ),
        { 'content-type': JSON_PATCH }
      )
    )
    case 6: case 7: return write('delete', await server.call('DELETE', `${url}${dry}`))
    default: {
      const answer = await pick(NONSENSE)(server, name)
      if (answer.code < 400 || answer.code >= 500) {
        throw new Error(`nonsense answered ${answer.code}: ${answer.body.slice(0, 200)}`)
      }
      return undefined
    }
  }
}

const ALLOWED: Readonly<Record<string, readonly number[]>> = {
  create: [201, 409], put: [200, 201, 409, 422], update: [200, 409, 404, 201, 422], merge: [200, 404, 409],
  patch: [200, 404, 409, 422], delete: [200, 202, 404]
}

t.test('a storm of valid and invalid requests leaves one history that explains every answer', async t => {
  t.comment(`seed ${dice.seed}`)
  // Event loop turns between reads and writes, as with a remote store.
  const pause = async (): Promise<void> => { for (let turns = dice.int(4); turns > 0; turns--) await turn() }
  const server = await listen(t, {
    admission: { plugins: [{ name: 'pause', handles: () => true, mutate: pause, validate: pause }] }
  })
  const watch = await Watch.open(t, `${server.url}${BINDINGS}?watch=1`)
  const writes: Write[] = []
  let left = REQUESTS
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) {
      const written = await act(server, left)
      if (written !== undefined) writes.push(written)
    }
  }))
  t.ok(writes.length > REQUESTS / 2, `${writes.length} writes`)
  await server.post(BINDINGS, binding('the-end'))
  await watch.until(() => watch.events.some(({ object }) => object.metadata.name === 'the-end'))
  watch.close()
  const history = watch.events.filter(({ object }) => object.metadata.name !== 'the-end')

  const strange = writes.filter(({ what, code }) => !ALLOWED[what]?.includes(code))
  t.same(
    strange.map(({ what, code, json }) => `${what} ${code} ${json.message}`), [],
    'every answer is one its request can have'
  )

  // The history itself: versions rise, and each object has a consistent life.
  const live = new Map<string, Event>()
  const versions = new Set<string>()
  const faults: string[] = []
  let last = 0
  const before = new Map<string, Event | undefined>()
  for (const event of history) {
    const { name, resourceVersion, uid } = event.object.metadata
    if (Number(resourceVersion) <= last) faults.push(`version ${resourceVersion} after ${last}`)
    last = Number(resourceVersion)
    const was = live.get(name)
    before.set(resourceVersion, was)
    if (event.type === 'ADDED' ? was !== undefined : was === undefined) {
      faults.push(`${event.type} of ${name} that was ${was === undefined ? 'not there' : 'there'}`)
    }
    if (event.type !== 'ADDED' && was?.object.metadata.uid !== uid) faults.push(`${event.type} of another ${name}`)
    if (event.type === 'MODIFIED' && was?.object.metadata.deletionTimestamp !== undefined &&
      event.object.metadata.deletionTimestamp === undefined) {
      faults.push(`${name} rose again`)
    }
    if (event.type === 'DELETED') live.delete(name)
    else live.set(name, event)
    versions.add(resourceVersion)
  }
  t.same(faults, [], 'the events of the watch form a history')
  t.same(
    (await server.get(BINDINGS)).json.items.filter(({ metadata }: Json) => metadata.name !== 'the-end').map(
      ({ metadata }: Json) => `${metadata.name} ${metadata.resourceVersion}`
    ),
    [...live.values()].map(({ object }) => `${object.metadata.name} ${object.metadata.resourceVersion}`).sort(),
    'and the list is where it ends'
  )

  // Every acknowledged write is in the history, with its effect.
  const at = new Map(history.map(event => [event.object.metadata.resourceVersion as string, event]))
  const lost: string[] = []
  const made = new Set<string>()
  for (const { what, code, json, expected } of writes) {
    if (code >= 300 || json.kind !== 'ClusterRoleBinding') continue
    const { resourceVersion } = json.metadata
    const event = at.get(resourceVersion)
    const removed = event?.type === 'DELETED'
    if (event === undefined) lost.push(`${what} ${resourceVersion} is not in the history`)
    else if (!removed && JSON.stringify(event.object) !== JSON.stringify(json)) {
      lost.push(`${what} ${resourceVersion} answered something else than was written`)
    }
    if (code === 201 && event?.type !== 'ADDED') lost.push(`${what} 201 at ${resourceVersion}, which is ${event?.type}`)
    if (code === 201 && made.has(resourceVersion)) lost.push(`two creates at ${resourceVersion}`)
    if (code === 201) made.add(resourceVersion)
    // With a resourceVersion: it replaced exactly that version, or changed nothing.
    if (what === 'update' && code === 200 && resourceVersion !== expected &&
      before.get(resourceVersion)?.object.metadata.resourceVersion !== expected) {
      lost.push(
        `update of ${expected} at ${resourceVersion} replaced ` +
        `${before.get(resourceVersion)?.object.metadata.resourceVersion}`
      )
    }
  }
  t.same(lost, [], 'no acknowledged write is lost or misreported')
  const gone = writes.filter(({ what, code }) => what === 'delete' && code === 200).length
  t.equal(
    gone <= history.filter(({ type }) => type === 'DELETED').length, true, 'each delete that removed is one removal'
  )
  const creates = writes.filter(({ code }) => code === 201).length
  t.equal(creates, history.filter(({ type }) => type === 'ADDED').length, 'each object was created by one answer')
  await stillServes(t, server)
})
