/** GET, LIST and WATCH beside `node:https` sending the same bytes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, gets, pool, Watchers } from './load.js'
import { cpu, launch, serve } from './process.js'
import type { Child } from './process.js'
import { report } from './report.js'

const ROUNDS = 5
const OBJECTS = 5000
const LISTS = 50
const CONFIGS = '/api/v1/namespaces/default/configmaps'

export const object = (name: string, size = 1750): string => JSON.stringify({ metadata: { name, labels: { app: 'bench' } }, data: { text: 'x'.repeat(size) } })

/** Runs `work` so many times against both, turn by turn, and gives the CPU of each per unit in µs. */
async function compare (ours: Child, bare: Child, units: number, work: (child: Child) => Promise<void>): Promise<{ ours: number[], limit: number[] }> {
  const found = { ours: [] as number[], limit: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [child, list] of [[ours, found.ours], [bare, found.limit]] as const) {
      const before = cpu(child)
      await work(child)
      if (round > 0) list.push((cpu(child) - before) * 1000 / units) // the first warms both up
    }
  }
  return found
}

export async function reads (): Promise<boolean> {
  const ours = await launch(['--max-mutating-requests-inflight=0', '--max-requests-inflight=0'])
  try {
    await pool(OBJECTS, 64, async at => {
      const { code } = await call(ours.port, 'POST', CONFIGS, object(`object-${String(at).padStart(6, '0')}`))
      if (code !== 201) throw new Error(`create answered ${code}`)
    })
    const files = { one: join(ours.folder, 'one.json'), list: join(ours.folder, 'list.json') }
    writeFileSync(files.one, (await call(ours.port, 'GET', `${CONFIGS}/object-000000`)).body())
    const { bytes } = await call(ours.port, 'GET', CONFIGS)
    writeFileSync(files.list, Buffer.alloc(bytes, 'x'))
    const bare = await serve('./bare.js', files.one, files.list, join(ours.folder, 'apiserver.crt'), join(ours.folder, 'apiserver.key'))
    const path = (child: Child, mine: string, its: string): string => child === bare ? its : mine
    try {
      const got = await compare(ours, bare, 20_000, async child => { await gets(child.port, path(child, `${CONFIGS}/object-000000`, '/one'), 20_000, 64) })
      const listed = await compare(ours, bare, LISTS, async child => { for (let at = 0; at < LISTS; at++) await call(child.port, 'GET', path(child, CONFIGS, '/list')) })
      const watched = await watching(ours, bare)
      return [
        report({ work: 'GET one object, 64 connections', unit: 'µs of server CPU', ...got, atLeast: 0.5 }),
        report({ work: `LIST ${OBJECTS} objects, ${(bytes / 1e6).toFixed(1)} MB`, unit: 'µs of server CPU', ...listed, atLeast: 2 / 3 }),
        report({ work: 'one event to 1,000 watchers, per watcher', unit: 'µs of server CPU', ...watched, atLeast: 0.5 })
      ].every(Boolean)
    } finally {
      await bare.stop()
    }
  } finally {
    await ours.stop()
  }
}

const WATCHERS = 1000
const EVENTS = 20

async function watching (ours: Child, bare: Child): Promise<{ ours: number[], limit: number[] }> {
  const WATCHED = '/api/v1/namespaces/orch-public/configmaps'
  const { body } = await call(ours.port, 'POST', WATCHED, object('watched'))
  const { metadata } = JSON.parse(body()) as { metadata: { resourceVersion: string } }
  const event = `{"type":"MODIFIED","object":${body().trim()}}\n`
  const mine = new Watchers()
  const its = new Watchers()
  await mine.open(ours.port, `/api/v1/configmaps?watch=1&resourceVersion=${metadata.resourceVersion}`, WATCHERS)
  await its.open(bare.port, '/watch', WATCHERS)
  let version = 0
  try {
    return await compare(ours, bare, WATCHERS * EVENTS, async child => {
      for (let at = 0; at < EVENTS; at++) {
        if (child === bare) await its.expect(1, () => call(bare.port, 'POST', '/event', event))
        else await mine.expect(1, () => call(ours.port, 'PUT', `${WATCHED}/watched`, object('watched', 1700 + (version++ % 50))))
      }
    })
  } finally {
    mine.close()
    its.close()
  }
}
