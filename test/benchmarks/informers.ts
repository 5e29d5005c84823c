/** Informers that stream their state, compared to as many lists and idle watches. */
import type { ClientRequest } from 'node:http'
import { request } from 'node:https'
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { CONFIGS, newestVersion } from './objects.js'
import { launch, memory, settle, TOKEN } from './process.js'
import { UNBOUNDED } from './reads.js'
import { median, report } from './report.js'
import type { Scale } from './scale.js'
import { filled } from './stored.js'

const STREAMED = `${CONFIGS}?watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true`
const MARK = 'initial-events-end'
const TAIL = 1000

/** Resolves when the answer has ended, or with the mark of a stream. */
function read (port: number, path: string): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    let tail = ''
    const sent = request({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${TOKEN}` }, rejectUnauthorized: false, agent: false }, response => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered ${response.statusCode}`))
      response.on('data', (chunk: Buffer) => {
        tail = (tail + chunk.subarray(-TAIL).toString('latin1')).slice(-TAIL)
        if (tail.includes(MARK)) resolve(sent)
      }).once('end', () => { resolve(sent) })
      if (path.includes('resourceVersion=')) resolve(sent) // nothing comes
    }).on('error', reject)
    sent.end()
  })
}

export async function informers (scale: Scale): Promise<void> {
  const objects = scale.objects * 2
  const count = Math.max(1, scale.watchers / 10)
  await using ends = new Ends()
  const ours = ends.add(await launch(UNBOUNDED, await filled(objects)))
  const work = `${count} informers of ${objects.toLocaleString('en')} objects`

  const parts = [STREAMED, CONFIGS].map(path => ({ ...ours, path }))
  const costs = await cpuInTurns(parts, Math.min(scale.rounds, 3), count, async ({ port, path }) => {
    for (let at = 0; at < count; at++) (await read(port, path)).destroy()
  })
  const [streams, lists] = parts.map(part => (costs.get(part) ?? []).map(cost => cost / 1000))
  report({ work: `${work}, beside lists`, unit: 'ms of CPU each', ours: streams ?? [], limit: lists ?? [], most: 1.1 })

  const plain = `${CONFIGS}?watch=1&resourceVersion=${await newestVersion(ours.port)}`
  const growth = async (path: string): Promise<number> => {
    await settle(ours, scale.pause)
    const before = memory(ours, 'RssAnon')
    const open = await Promise.all(Array.from({ length: count }, () => read(ours.port, path)))
    await settle(ours, scale.pause)
    const grown = memory(ours, 'RssAnon') - before
    for (const each of open) each.destroy()
    return grown * 1000 / count
  }
  await growth(STREAMED) // the heap has its final size
  const [idle, streaming]: [number[], number[]] = [[], []]
  for (let round = 0; round < Math.min(scale.rounds, 3); round++) {
    idle.push(await growth(plain))
    streaming.push(await growth(STREAMED))
  }
  report({ work: `memory of ${work}, beyond that of idle watches`, unit: 'KB each', ours: [median(streaming) - median(idle)], bound: 1 })
  report({ work: `memory of ${count} idle watches`, unit: 'KB each', ours: idle })
}
