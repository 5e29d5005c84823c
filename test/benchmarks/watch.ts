/** Events to many watches, one at a time and in bursts, compared to bare servers that write the same bytes. */
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call, pool } from './http1.js'
import { callHttp2 } from './http2.js'
import { fill, object } from './objects.js'
import { launch, type Child } from './process.js'
import { bareFor, UNBOUNDED } from './reads.js'
import { quantile, report } from './report.js'
import type { Scale } from './scale.js'
import { Watchers, type Version } from './watchers.js'

const WATCHED = '/api/v1/namespaces/orch-public/configmaps'
const WRITERS = 64
const PEER: Readonly<Record<string, number>> = { 'single, 1': 36, 'burst, 1': 17, 'burst, 2': 22 }

export interface Watching extends Child {
  readonly watchers: Watchers
  /** The bytes of one event. */
  readonly event: string
  /** Causes an event; resolves with the writer's response. */
  cause: (at: number) => Promise<void>
}

/** Watches of all config maps, and objects whose PUTs are the events. */
export async function watchOurs (ours: Child, version: Version, watchers: number, objects: number): Promise<Watching> {
  let last = 0
  for (let at = 0; at < objects; at++) {
    const { code, body } = await call(ours.port, 'POST', WATCHED, object(nameOf(version, objects, at), false, 2100))
    if (code !== 201) throw new Error(`create answered ${code}`)
    last = versionOf(body())
  }
  const open = new Watchers()
  await open.open(version, ours.port, `/api/v1/configmaps?watch=1&resourceVersion=${last}`, watchers)
  let changes = 0
  return {
    ...ours,
    watchers: open,
    event:
      '{"type":"MODIFIED",' +
      `"object":${(await call(ours.port, 'GET', `${WATCHED}/${nameOf(version, objects, 0)}`)).body().trim()}}\n`,
    cause: async at => {
      const name = nameOf(version, objects, at % objects)
      const { code } = await call(ours.port, 'PUT', `${WATCHED}/${name}`, object(name, false, 2000 + changes++ % 89))
      if (code !== 200) throw new Error(`update answered ${code}`)
    }
  }
}

const nameOf = (version: Version, objects: number, at: number): string => `watched-${version}-${objects}-${at}`

const versionOf = (json: string): number => Number(/"resourceVersion":"(\d+)"/.exec(json)?.[1])

export async function watchBare (
  bare: Child, version: Version, watchers: number, path: '/event' | '/burst', event: string
): Promise<Watching> {
  const open = new Watchers()
  await open.open(version, bare.port, '/watch', watchers)
  return {
    ...bare,
    watchers: open,
    event,
    cause: async () => {
      if (version === 1) await call(bare.port, 'POST', path, event)
      else await callHttp2(bare.port, path, event)
    }
  }
}

/** Checks that each change arrived once and in order. */
function checkOrder (received: string, events: number): void {
  const versions = received.trimEnd().split('\n').map(versionOf)
  const right =
    versions.length === events && versions.every((version, at) => at === 0 || version > (versions[at - 1] ?? 0))
  if (!right) throw new Error(`${events} events arrived as ${versions.join(', ')}`)
}

export async function watching (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const ours = ends.add(await launch(UNBOUNDED))
  await fill(ours, 10)
  for (const version of [1, 2] as const) {
    const bare = ends.add(await bareFor(ours, version))
    for (const kind of ['single', 'burst'] as const) {
      const objects = kind === 'single' ? 1 : scale.burst
      const mine = await watchOurs(ours, version, scale.watchers, objects)
      const its = await watchBare(bare, version, scale.watchers, kind === 'single' ? '/event' : '/burst', mine.event)
      const parties = [mine, its]
      try {
        await measure(scale, version, kind, parties)
        if (kind === 'single') await delivery(scale, version, mine, its)
      } finally {
        for (const { watchers } of parties) watchers.close()
      }
    }
  }
}

async function measure (
  scale: Scale, version: Version, kind: 'single' | 'burst', parties: readonly Watching[]
): Promise<void> {
  const events = kind === 'single' ? scale.events : scale.burst
  const costs = await cpuInTurns(parties, scale.rounds, scale.watchers * events, async ({ watchers, cause, port }) => {
    if (kind === 'single') {
      for (let at = 0; at < events; at++) await watchers.expect(1, () => cause(at))
    } else {
      const received = await watchers.expectSame(events, () => pool(events, WRITERS, cause))
      if (port === parties[0]?.port) checkOrder(received, events)
    }
  })
  const [ours, limit] = parties.map(party => costs.get(party) ?? [])
  const name = `${scale.watchers.toLocaleString('en')} watchers, HTTP/${version === 1 ? '1.1' : '2'}`
  // kube-apiserver 1.36 was measured with as many watches, HTTP/2 in bursts only.
  const peer = scale.watchers === 1_000 ? PEER[`${kind}, ${version}`] : undefined
  report({
    work: kind === 'single' ? `one event at a time to ${name}` : `burst of ${events} events to ${name}`,
    unit: 'µs of CPU an event delivered', ours: ours ?? [], limit: limit ?? [], most: kind === 'single' ? 1.05 : 1.5,
    peer
  })
}

/**
 * Writes and watches in one process, by one clock. The figures include the client's own work, so they are reported
 * beside the bare server's, measured from the writer's request: it responds once it has written to all.
 */
async function delivery (scale: Scale, version: Version, ours: Watching, bare: Watching): Promise<void> {
  const mine = await arrivals(scale, ours)
  const its = await arrivals(scale, bare)
  const name = `${scale.watchers.toLocaleString('en')} watchers, HTTP/${version === 1 ? '1.1' : '2'}`
  const parts = [['p50', 0.5, 10], ['p99', 0.99, 50]] as const
  report({
    work: `from the writer's answer to ${name}`,
    unit: 'ms',
    of: parts.map(([label, part, bound]) => [label, { ours: [quantile(mine.sinceAnswer, part)], bound }])
  })
  report({
    work: `from the writer's request to ${name}`,
    unit: 'ms',
    of: parts.map(([label, part]) => [
      label, { ours: [quantile(mine.sinceRequest, part)], limit: [quantile(its.sinceRequest, part)] }
    ])
  })
}

/** Milliseconds from each event to each watch. */
async function arrivals (
  scale: Scale, { watchers, cause }: Watching
): Promise<{ sinceAnswer: number[], sinceRequest: number[] }> {
  const sinceAnswer: number[] = []
  const sinceRequest: number[] = []
  for (let at = 0; at < scale.deliveries; at++) {
    const times: number[] = []
    watchers.arrived = time => { times.push(time) }
    const asked = performance.now()
    let answered = 0
    await watchers.expect(1, async () => {
      await cause(at)
      answered = performance.now()
    })
    for (const time of times) {
      sinceAnswer.push(Math.max(0, time - answered))
      sinceRequest.push(time - asked)
    }
    await new Promise(resolve => { setTimeout(resolve, 20) })
  }
  watchers.arrived = undefined
  return { sinceAnswer, sinceRequest }
}
