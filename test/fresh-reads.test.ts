/**
 * Two servers on one etcd: each one returns at once what the other has acknowledged, even if it learns of the change
 * late.
 */
import t, { type Test } from 'tap'
import { createHash } from 'node:crypto'
import { startEtcd } from './etcd-process.js'
import { client, build, type Client } from './build.js'
import { lateWatch } from './late-watch.js'
import { startNeighbour } from './neighbour.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const TIMES = 480
const AT_ONCE = 32

async function server (t: Test, url: string): Promise<Client> {
  const { app } = await build(t, {
    storage: { kind: 'etcd', servers: [url], compactionInterval: 0 },
    limits: { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 }
  })
  return client(app)
}

/**
 * Repeats `times` times, concurrently: a write through one server, then a GET and a LIST through the other.
 * @returns what was stale
 */
async function stale (writer: Client, reader: Client, times: number): Promise<string[]> {
  const found: string[] = []
  await Promise.all(Array.from({ length: AT_ONCE }, async (_, worker) => {
    const name = `c${worker}`
    const url = `${CONFIGS}/${name}`
    const labels = { worker: createHash('md5').update(name).digest('hex') }
    for (let step = 0; step < times / AT_ONCE; step++) {
      const body = { metadata: { name, labels }, data: { step: String(step) } }
      // Sometimes the object is deleted, so that its absence is checked too.
      const gone = step % 10 === 9
      const written = gone
        ? await writer.delete(url)
        : step % 10 === 0 ? await writer.post(CONFIGS, body) : await writer.put(url, body)
      if (written.code > 201) {
        found.push(`step ${step} of ${name}: the write was answered ${written.code} ${written.body}`)
      }
      const [got, listed] = await Promise.all([
        reader.get(url), reader.get(`${CONFIGS}?labelSelector=worker%3D${labels.worker}`)
      ])
      const items: unknown[] = listed.json['items'] ?? ['no list']
      const version = written.json['metadata']?.resourceVersion
      const fresh = gone
        ? got.code === 404 && items.length === 0
        : got.json['metadata']?.resourceVersion === version && items.length === 1 &&
          listed.json['items'][0].metadata.resourceVersion === version
      if (!fresh) found.push(`step ${step} of ${name}: ${got.code} ${got.body} ${listed.body}`)
    }
  }))
  return found
}

t.test('what is written through one server is read at once through the other', async t => {
  const { url } = await startEtcd(t)
  const [writer, reader] = await Promise.all([server(t, url), server(t, url)])
  t.same((await stale(writer, reader, TIMES)).slice(0, 3), [])
})

t.test('and so they are when the reader hears of each half a second late', async t => {
  const { url } = await startEtcd(t)
  const writer = await server(t, url)
  const reader = await server(t, await lateWatch(t, url, 500))
  const since = performance.now()
  t.equal((await writer.post(CONFIGS, { metadata: { name: 'late' } })).code, 201)
  t.equal((await reader.get(`${CONFIGS}/late`)).code, 200)
  t.ok(performance.now() - since > 400, 'the reader did wait for it')
  t.same((await stale(writer, reader, 160)).slice(0, 3), [])
})

t.test('and so they are beside others who write 1,000 times a second', async t => {
  const { url } = await startEtcd(t)
  const [writer, reader] = await Promise.all([server(t, url), server(t, url)])
  const neighbour = startNeighbour(t, { servers: [url] })
  await neighbour.more(1)
  t.same((await stale(writer, reader, 320)).slice(0, 3), [])
  t.ok(neighbour.writes() > 100, `${neighbour.writes()} writes of theirs`)
  await neighbour.stop()
})
