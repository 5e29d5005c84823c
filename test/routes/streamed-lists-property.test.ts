/** Lists and streamed lists agree after any history. */
import type { AddressInfo } from 'node:net'
import { connect } from 'node:http2'
import t, { type Test } from 'tap'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { client, type Client, type Event, type Json } from '../build.js'
import { random } from '../random.js'
import { polled } from '../polled.js'

const PATH = '/api/v1/namespaces/default/configmaps'
const MARKED = 'watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true'
const SELECTORS = [
  '', 'labelSelector=team%3Dred', 'labelSelector=team%21%3Dred', 'labelSelector=%21team',
  'fieldSelector=metadata.name%3Dn3', 'labelSelector=team+in+(red,blue)&fieldSelector=metadata.name%21%3Dn1'
]
const STEPS = 40
const READS = 3

const isEnd = ({ type, object }: Event): boolean => type === 'BOOKMARK' && object.metadata.annotations !== undefined

interface Streamed { readonly items: Json[], readonly version: string }

/** Reads a stream over HTTP/2 up to the mark. */
async function streamed (t: Test, session: ReturnType<typeof connect>, query: string): Promise<Streamed> {
  const stream = session.request({ ':path': `${PATH}?${MARKED}${query}` })
  const events: Event[] = []
  let text = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) {
    const lines = (text + String(chunk)).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) events.push(JSON.parse(line) as Event)
    if (events.some(isEnd)) break
  }
  stream.destroy()
  const at = events.findIndex(isEnd)
  t.ok(at >= 0 && events.slice(0, at).every(({ type }) => type === 'ADDED'), 'the state, then the mark')
  return {
    items: events.slice(0, at).map(({ object }) => object), version: String(events[at]?.object.metadata.resourceVersion)
  }
}

const withTypes = (items: Json[]): Json[] => items.map(item => ({ kind: 'ConfigMap', apiVersion: 'v1', ...item }))

/** One random write; most are of objects that exist. */
async function write (server: Client, int: (below: number) => number): Promise<void> {
  const name = `n${int(8)}`
  const team = [undefined, 'red', 'blue'][int(3)]
  const object = { metadata: { name, labels: team === undefined ? {} : { team } }, data: { at: String(int(1000)) } }
  switch (int(4)) {
    case 0: await server.post(PATH, object); break
    case 1: await server.delete(`${PATH}/${name}`); break
    default: {
      if ((await server.put(`${PATH}/${name}`, object)).code === 404) await server.post(PATH, object)
    }
  }
}

t.test('lists and streamed lists agree after any history', async t => {
  const { seed, int } = random()
  t.comment(`SEED=${seed}`)
  const app = Fastify({ ...{ http2: true } as object, forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(orch)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const h2 = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`) // it listens on a port
  t.teardown(() => { h2.destroy() })
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  const versions: string[] = []
  for (let step = 0; step < STEPS; step++) {
    await write(server, int)
    const list = (await server.get(PATH)).json
    versions.push(String(list['metadata'].resourceVersion))
    const selector = SELECTORS[int(SELECTORS.length)] ?? ''
    const asked = ['', '0', versions[int(versions.length)] ?? ''][int(3)] ?? ''
    const query = `${asked === '' ? '' : `&resourceVersion=${asked}`}${selector === '' ? '' : `&${selector}`}`
    const same = (await server.get(`${PATH}?${selector}`)).json
    // Once, and again when the state is joined already.
    for (let read = int(READS); read >= 0; read--) {
      const { items, version } = await streamed(t, h2, query)
      t.strictSame(items, withTypes(same['items'] as Json[]), `SEED=${seed}, step ${step}: ${query}`)
      // Only this test writes such objects, but the server renews its lease in the same store.
      const after = (await server.get(PATH)).json
      t.ok(Number(list['metadata'].resourceVersion) <= Number(version), 'as new as the list before')
      t.ok(Number(version) <= Number(after['metadata'].resourceVersion), 'no newer than the list after')
    }
  }
})
