/**
 * A hundred thousand objects of one type: the start, lists in every form, pages, a watch, and the memory for all of it.
 */
import t from 'tap'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { CONFIGS, key } from './benchmarks/objects.js'
import { filled } from './benchmarks/stored.js'
import { keepingAgent, RunningServer, TOKEN, until } from './interop/server.js'
import { ownTime } from './own-time.js'

const OBJECTS = 100_000
/** Bytes of data of each: less than in the benchmarks, because it is their number that counts here. */
const SIZE = 256
/** Including the CA bundle that the server keeps in the namespace. */
const ALL = OBJECTS + 1
/** MB: the objects in memory, and half as much again. */
const MAX_MEMORY = 660
/**
 * Maximum milliseconds that a small request waits beside the lists, without the time in which it and the server wait
 * for other processes.
 */
const MAX_WAIT = 500

const memory = (pid: number): number =>
  Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

t.test('a hundred thousand objects of one type', async t => {
  const folder = await filled(OBJECTS, SIZE)
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const server = await RunningServer.start(t, [`--data-dir=${folder}/data`, '--encoded-objects-cache-size=64Mi'])
  const { ca } = server
  await until('the CA bundle to be there', async () => (await server.ask(`${CONFIGS}/orch-root-ca.crt`)).code === 200)

  const send = async (path: string, accept = 'application/json'): Promise<IncomingMessage> => {
    const asked = request(`${server.url}${path}`, {
      ca, agent: false, headers: { authorization: `Bearer ${TOKEN}`, accept }
    })
    asked.end()
    const [response] = await once(asked, 'response') as [IncomingMessage]
    return response
  }
  /** Counts the items by a text that each has once. */
  const count = async (path: string, text: string, accept?: string): Promise<number> => {
    let found = 0
    let rest = ''
    for await (const piece of await send(path, accept)) {
      const parts = (rest + (piece as Buffer).toString('latin1')).split(text)
      found += parts.length - 1
      rest = (parts.at(-1) ?? '').slice(-text.length + 1)
    }
    return found
  }

  await t.test('all are listed in every form while others are served', async t => {
    let longest = 0
    let over = false
    const agent = keepingAgent(t)
    const others = (async () => {
      for (;;) {
        if (over) break
        const since = ownTime(server.pid)
        t.equal((await server.ask(`${CONFIGS}/${key(77)}`, 'GET', undefined, agent)).code, 200)
        longest = Math.max(longest, ownTime(server.pid) - since)
        await new Promise(resolve => { setTimeout(resolve, 10) })
      }
    })()
    t.equal(await count(CONFIGS, '"uid":'), ALL, 'JSON')
    t.equal(await count(CONFIGS, 'object-0', 'application/vnd.orch.protobuf'), OBJECTS, 'protobuf')
    t.equal(await count(CONFIGS, '"cells":', 'application/json;as=Table;g=meta.orch.io;v=v1'), ALL, 'a Table')
    t.equal(
      await count(`${CONFIGS}?labelSelector=tenth%3Dyes`, '"uid":'), OBJECTS / 10, 'those that a selector matches'
    )
    over = true
    await others
    t.ok(longest < MAX_WAIT, `others waited ${longest.toFixed(0)} ms at most`)
  })

  await t.test('pages of one state are whole while it changes', async t => {
    const watch = await send(
      `${CONFIGS}?watch=1&resourceVersion=${versionOf((await server.ask(`${CONFIGS}?limit=1`)).body)}`
    )
    let seen = ''
    watch.on('data', (piece: Buffer) => { seen += piece.toString() })
    watch.on('error', () => {})
    let token = ''
    let items = 0
    let pages = 0
    do {
      const { body } = await server.ask(`${CONFIGS}?limit=5000&continue=${token}`)
      const { metadata, items: found } = JSON.parse(body) as {
        metadata: { continue?: string, remainingItemCount?: number }
        items: unknown[]
      }
      items += found.length
      pages++
      token = metadata.continue ?? ''
      if (token !== '' && metadata.remainingItemCount !== ALL - items) {
        t.fail(`after ${items} items ${metadata.remainingItemCount} are said to remain`)
      }
      t.equal((await server.ask(`${CONFIGS}/${key(99_999 - pages)}`, 'DELETE')).code, 200)
      t.equal((await server.ask(CONFIGS, 'POST', { metadata: { name: `new-${pages}` } })).code, 201)
    } while (token !== '')
    t.same([items, pages], [ALL, OBJECTS / 5000 + 1])
    await until('the watch to tell of all', () => seen.split('\n').length - 1 === 2 * pages)
    t.same(
      seen.trim().split('\n').map(line => /^\{"type":"(\w+)"/.exec(line)?.[1]),
      Array.from({ length: pages }, () => ['DELETED', 'ADDED']).flat()
    )
    watch.destroy()
  })

  t.ok(memory(server.pid) < MAX_MEMORY, `${memory(server.pid).toFixed(0)} MB of its own`)
})

const versionOf = (body: string): string => /"resourceVersion":"(\d+)"/.exec(body)?.[1] ?? ''
