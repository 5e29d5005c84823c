/**
 * Realistic pods, and the same in a type with two versions: the cost of the version that is not stored, on the first
 * and on later requests.
 */
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call, gets, pool } from './http1.js'
import { newestVersion } from './objects.js'
import { cronJob, pod, PODS, podWithStatus } from './pod-objects.js'
import { cpu, launch, type Child } from './process.js'
import { bareServing, UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { Watchers } from './watchers.js'

const STORED = '/apis/batch/v1/namespaces/default/cronjobs'
const CONVERTED = '/apis/batch/v1beta1/namespaces/default/cronjobs'
const name = (at: number): string => `pod-${String(at).padStart(6, '0')}`

async function sent (server: Child, method: string, path: string, body: string): Promise<void> {
  const { code, body: text } = await call(server.port, method, path, body)
  if (code >= 300) throw new Error(`${method} ${path} answered ${code}: ${text().slice(0, 500)}`)
}

async function listed (server: Child, path: string): Promise<number> {
  const { code, bytes } = await call(server.port, 'GET', path)
  if (code !== 200) throw new Error(`LIST answered ${code}`)
  return bytes
}

export async function pods (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const ours = ends.add(await launch(UNBOUNDED))
  await pool(scale.objects, 64, async at => {
    await sent(ours, 'POST', PODS, pod(name(at)))
    await sent(ours, 'PUT', `${PODS}/${name(at)}/status`, podWithStatus(name(at), 0))
    await sent(ours, 'POST', STORED, cronJob(name(at)))
  })
  await reading(scale, ours, ends)
  await versions(scale, ours)
  await events(scale, ours, 'pods', PODS, at => [`${PODS}/${name(7)}/status`, podWithStatus(name(7), at)])
}

async function reading (scale: Scale, ours: Child, ends: Ends): Promise<void> {
  const path = `${PODS}/${name(7)}`
  const bytes = await listed(ours, PODS)
  const bare = ends.add(await bareServing(ours, 1, path, bytes))
  const one = await cpuInTurns(
    [ours, bare], scale.rounds, scale.gets, server => gets(server.port, server === bare ? '/one' : path, scale.gets, 64)
  )
  report({
    work: 'GET a pod of 9 KB, HTTP/1.1',
    unit: 'µs of CPU a request',
    ours: one.get(ours) ?? [],
    limit: one.get(bare) ?? [],
    most: 1.6
  })
  const all = await cpuInTurns([ours, bare], scale.rounds, 1000 * scale.lists, async server => {
    for (let at = 0; at < scale.lists; at++) await listed(server, server === bare ? '/list' : PODS)
  })
  report({
    work: `LIST ${scale.objects.toLocaleString('en')} pods, HTTP/1.1`,
    unit: 'ms of CPU',
    ours: all.get(ours) ?? [],
    limit: all.get(bare) ?? [],
    most: 1.25
  })
}

/** The stored version is encoded when an object changes, another one on its first request. */
async function versions (scale: Scale, ours: Child): Promise<void> {
  const each = (from: number): number => (cpu(ours) - from) * 1000 / scale.objects
  const unit = 'µs of CPU an object'
  const written: number[] = []
  const first: number[] = []
  for (let round = 1; round <= Math.max(1, scale.rounds / 2); round++) {
    let before = cpu(ours)
    await pool(scale.objects, 64, at => sent(ours, 'PUT', `${STORED}/${name(at)}`, cronJob(name(at), round)))
    written.push(each(before))
    before = cpu(ours)
    await listed(ours, CONVERTED)
    first.push(each(before))
  }
  report({
    work: 'LIST in another version the first time, beside the writes before it',
    unit,
    ours: first,
    limit: written,
    most: 1
  })
  const paths = [STORED, CONVERTED].map(path => ({ ...ours, path }))
  const costs = await cpuInTurns(paths, scale.rounds, scale.lists * scale.objects, async ({ path }) => {
    for (let at = 0; at < scale.lists; at++) await listed(ours, path)
  })
  const [stored = [], converted = []] = paths.map(party => costs.get(party) ?? [])
  report({
    work: 'LIST in another version again, beside the stored one', unit, ours: converted, limit: stored, most: 1.25
  })
  await events(scale, ours, 'cron jobs', STORED, at => [`${STORED}/${name(7)}`, cronJob(name(7), at)], CONVERTED)
}

/** One event at a time to watches of one version, or of two versions at once. */
async function events (
  scale: Scale, ours: Child, what: string, collection: string, change: (at: number) => [string, string], other?: string
): Promise<void> {
  let turn = 100 // differs from the stored one
  const parties = []
  for (const path of other === undefined ? [collection] : [collection, other]) parties.push({ ...ours, path })
  const costs = await cpuInTurns(parties, scale.rounds, scale.watchers * scale.events, async ({ path }) => {
    const watchers = new Watchers()
    await watchers.open(
      2, ours.port, `${path}?watch=1&resourceVersion=${await newestVersion(ours.port, path)}`, scale.watchers
    )
    for (let at = 0; at < scale.events; at++) {
      const [target, body] = change(++turn)
      await watchers.expect(1, () => sent(ours, 'PUT', target, body))
    }
    watchers.close()
  })
  const [stored = [], converted] = parties.map(party => costs.get(party) ?? [])
  const unit = 'µs of CPU an event delivered, with opening the watch'
  const to = `an event of ${what} to ${scale.watchers.toLocaleString('en')} watchers`
  if (converted === undefined) report({ work: to, unit, ours: stored })
  else {
    report({
      work: `${to} in another version, beside the stored one`, unit, ours: converted, limit: stored, most: 1.25
    })
  }
}
