/** Informers that stream their state, compared to those that list it and then watch. */
import type { ClientRequest } from 'node:http'
import { Agent, request } from 'node:https'
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
const JSON_TYPE = 'application/json'
const FORMS = [
  [JSON_TYPE, 'JSON'], ['application/vnd.orch.protobuf,application/vnd.orch.protobuf;stream=watch', 'protobuf']
] as const

interface Asked { readonly port: number, readonly path: string, readonly accept: string, readonly agent?: Agent }

/** Resolves when the answer has ended, or with the mark of a stream. */
function read ({ port, path, accept, agent }: Asked): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    let tail = ''
    const headers = { authorization: `Bearer ${TOKEN}`, accept }
    const sent = request({
      port, host: '127.0.0.1', path, headers, rejectUnauthorized: false, agent: agent ?? false
    }, response => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered ${response.statusCode}`))
      response.on('data', (chunk: Buffer) => {
        tail = (tail + chunk.subarray(-TAIL).toString('latin1')).slice(-TAIL)
        if (tail.includes(MARK)) resolve(sent)
      }).once('end', () => { resolve(sent) })
      if (path.includes('watch=1&resourceVersion=')) resolve(sent) // nothing comes
    }).on('error', reject)
    sent.end()
  })
}

/** An informer that streams its state, or lists it and then watches, over one connection. */
async function informer (port: number, path: string, version: string): Promise<ClientRequest> {
  if (path === STREAMED) return await read({ port, path, accept: JSON_TYPE })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await read({ port, path, accept: JSON_TYPE, agent })
  return await read({ port, path: `${CONFIGS}?watch=1&resourceVersion=${version}`, accept: JSON_TYPE, agent })
}

export async function informers (scale: Scale): Promise<void> {
  const objects = scale.objects * 2
  const count = Math.max(1, scale.watchers / 10)
  await using ends = new Ends()
  const ours = ends.add(await launch(UNBOUNDED, await filled(objects)))
  const work = `${count} informers of ${objects.toLocaleString('en')} objects`

  for (const [accept, name] of FORMS) {
    const parts = [STREAMED, CONFIGS].map(path => ({ ...ours, path, accept }))
    const costs = await cpuInTurns(parts, Math.min(scale.rounds, 3), count, async part => {
      for (let at = 0; at < count; at++) (await read(part)).destroy()
    })
    const [streams, lists] = parts.map(part => (costs.get(part) ?? []).map(cost => cost / 1000))
    report({
      work: `${work}, ${name}, beside lists`, unit: 'ms of CPU each', ours: streams ?? [], limit: lists ?? [], most: 1.1
    })
  }

  const version = await newestVersion(ours.port)
  const growth = async (path: string): Promise<number> => {
    await settle(ours, scale.pause)
    const before = memory(ours, 'RssAnon')
    const open: ClientRequest[] = []
    for (let at = 0; at < count; at++) open.push(await informer(ours.port, path, version))
    await settle(ours, scale.pause)
    const grown = memory(ours, 'RssAnon') - before
    for (const each of open) each.destroy()
    return grown * 1000 / count
  }
  for (const path of [STREAMED, CONFIGS]) await growth(path) // the heap has its final size
  const listing: number[] = []
  const streaming: number[] = []
  for (let round = 0; round < Math.min(scale.rounds, 3); round++) {
    listing.push(await growth(CONFIGS))
    streaming.push(await growth(STREAMED))
  }
  report({
    work: `memory of ${work}, beyond those that list and then watch`,
    unit: 'KB each',
    ours: [median(streaming) - median(listing)],
    bound: 1
  })
  report({ work: `memory of ${count} informers that list and then watch`, unit: 'KB each', ours: listing })
}
