import t from 'tap'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchApart, TOKEN } from './benchmarks/process.js'
import { random } from './random.js'

const ROUNDS = 4
const WRITES = 5000
const WRITERS = 24
const CONFIGS = '/api/v1/namespaces/default/configmaps'
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

interface Acknowledged { readonly name: string, readonly version: number }
interface Seen { readonly type: string, readonly name: string, readonly version: number }

const metadataOf = (text: string): { name: string, resourceVersion: string } =>
  (JSON.parse(text) as { metadata: { name: string, resourceVersion: string } }).metadata

/** The body of a response, undefined if the connection broke before it was complete. */
function ask (
  port: number, agent: Agent, method: string, path: string, body?: string
): Promise<{ code: number, text: string } | undefined> {
  return new Promise(resolve => {
    const asked = request({
      port, host: '127.0.0.1', method, path, agent, headers, rejectUnauthorized: false
    }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => { text += part })
      response.on('end', () => { resolve(response.complete ? { code: response.statusCode ?? 0, text } : undefined) })
      response.on('error', () => { resolve(undefined) })
      response.on('aborted', () => { resolve(undefined) })
    })
    asked.on('error', () => { resolve(undefined) })
    asked.end(body)
  })
}

/** Watches the collection from a version, and records events until the connection breaks. */
async function follow (port: number, from: number, seen: Seen[]): Promise<{ ended: Promise<void>, stop: () => void }> {
  const asked = request({
    port,
    host: '127.0.0.1',
    path: `${CONFIGS}?watch=1&resourceVersion=${from}`,
    headers,
    rejectUnauthorized: false,
    agent: false
  })
  asked.on('error', () => {})
  asked.end()
  const [response] = await once(asked, 'response') as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`the watch from ${from} answered ${response.statusCode}`)
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = JSON.parse(line) as {
        type: string
        object: { metadata: { name: string, resourceVersion: string } }
      }
      seen.push({
        type: event.type, name: event.object.metadata.name, version: Number(event.object.metadata.resourceVersion)
      })
    }
  })
  response.on('error', () => {})
  return { ended: new Promise(resolve => { response.on('close', resolve) }), stop: () => { asked.destroy() } }
}

t.test(`a server killed amid 5,000 concurrent writes, ${ROUNDS} times, loses nothing it acknowledged`, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-crash-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const { seed, int } = random()
  t.comment(`seed ${seed}`)
  const acknowledged: Acknowledged[] = []
  const seen: Seen[] = []
  let newest = 0
  let from = 0

  for (let round = 0; round < ROUNDS; round++) {
    const server = await launchApart(
      ['--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=0'], folder
    )
    const agent = new Agent({ keepAlive: true, maxSockets: WRITERS })
    if (round === 0) {
      const list = await ask(server.port, agent, 'GET', CONFIGS)
      from = newest = Number(
        (JSON.parse(list?.text ?? '') as { metadata: { resourceVersion: string } }).metadata.resourceVersion
      )
    }
    const watching = await follow(server.port, seen.at(-1)?.version ?? from, seen)
    const killAt = 100 + int(500)
    let answered = 0
    const before = newest
    let next = 0
    await Promise.all(Array.from({ length: WRITERS }, async () => {
      while (next < WRITES && !server.process.killed) {
        const answer = await ask(
          server.port, agent, 'POST', CONFIGS,
          JSON.stringify({ metadata: { name: `r${round}-${next++}` }, data: { text: 'x'.repeat(500) } })
        )
        if (answer?.code !== 201) continue
        const { name, resourceVersion } = metadataOf(answer.text)
        if (Number(resourceVersion) <= before) t.fail(`resource version ${resourceVersion} is not above ${before}`)
        newest = Math.max(newest, Number(resourceVersion))
        acknowledged.push({ name, version: Number(resourceVersion) })
        if (++answered === killAt) server.process.kill('SIGKILL')
      }
    }))
    await watching.ended
    agent.destroy()
    t.ok(answered < WRITES, `round ${round}: killed after ${answered} of ${WRITES} answers`)
  }

  const server = await launchApart([], folder)
  t.teardown(() => server.stop())
  const agent = new Agent()
  const list = JSON.parse(
    (await ask(server.port, agent, 'GET', CONFIGS))?.text ?? ''
  ) as { metadata: { resourceVersion: string }, items: Array<{ metadata: { name: string, resourceVersion: string } }> }
  const there = new Map(list.items.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]))
  const lost = acknowledged.filter(({ name, version }) => there.get(name) !== version)
  t.same(lost, [], `${acknowledged.length} acknowledged writes are there with their versions`)
  t.ok(Number(list.metadata.resourceVersion) >= newest)

  const watching = await follow(server.port, seen.at(-1)?.version ?? from, seen)
  const last = Math.max(...there.values())
  while ((seen.at(-1)?.version ?? 0) < last) await new Promise(resolve => { setTimeout(resolve, 10) })
  watching.stop()
  const versions = seen.map(({ version }) => version)
  t.ok(
    versions.every((version, at) => at === 0 || version > (versions[at - 1] ?? 0)),
    'the resumed watches saw each version once, in order'
  )
  // without objects of the server itself
  const ours = (names: Iterable<string>): Set<string> => new Set([...names].filter(name => name.startsWith('r')))
  t.same(ours(seen.map(({ name }) => name)), ours(there.keys()), 'and every object there is')
})
