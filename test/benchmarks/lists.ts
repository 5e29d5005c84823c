/**
 * LIST of everything, compared to a bare server that streams as many bytes in the same pieces; pages and selectors,
 * compared to LIST of everything.
 */
import { cpuInTurns } from './compare.js'
import { Ends } from './ends.js'
import { call } from './http1.js'
import { listsHttp2 } from './http2.js'
import { CONFIGS, fill } from './objects.js'
import { launch, type Child } from './process.js'
import { bareFor, UNBOUNDED } from './reads.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

/** Milliseconds of kube-apiserver 1.36 for 5,000 objects. */
const PEER = 106
const ALL = '?'
const PAGE = '?limit=500'
const TENTH = '?labelSelector=tenth%3Dyes'

export const lists = async (port: number, path: string, count: number): Promise<void> => {
  for (let at = 0; at < count; at++) {
    const { code } = await call(port, 'GET', path)
    if (code !== 200) throw new Error(`LIST answered ${code}`)
  }
}

export async function listing (scale: Scale): Promise<void> {
  await using ends = new Ends()
  const ours = ends.add(await launch(UNBOUNDED))
  await fill(ours, scale.objects)
  const { bytes } = await call(ours.port, 'GET', CONFIGS)
  const size = `${scale.objects.toLocaleString('en')} objects`
  const unit = 'ms of CPU'
  const milliseconds = (costs: number[] = []): number[] => costs.map(cost => cost / 1000)

  for (const version of [1, 2] as const) {
    const bare = await bareFor(ours, version, bytes)
    try {
      const costs = await cpuInTurns([ours, bare], scale.rounds, scale.lists, async (server: Child) => {
        const path = server === bare ? '/list' : CONFIGS
        if (version === 1) await lists(server.port, path, scale.lists)
        else await listsHttp2(server.port, path, scale.lists)
      })
      report({
        work: `LIST ${size}, HTTP/${version === 1 ? '1.1' : '2'}`,
        unit,
        ours: milliseconds(costs.get(ours)),
        limit: milliseconds(costs.get(bare)),
        most: 1.25,
        peer: version === 1 && scale.objects === 5_000 ? PEER : undefined
      })
    } finally {
      await bare.stop()
    }
  }

  const parts = [ALL, PAGE, TENTH].map(query => ({
    ...ours,
    query,
    sent: query === ALL ? scale.objects : Math.min(500, query === PAGE ? scale.objects : scale.objects / 10)
  }))
  // The same number of objects from each, so that all are measured equally well.
  const costs = await cpuInTurns(parts, scale.rounds, scale.lists * scale.objects, async ({ port, query, sent }) => {
    await lists(port, CONFIGS + query, scale.lists * scale.objects / sent)
  })
  const [all, page, tenth] = parts.map(part => costs.get(part) ?? [])
  if (all === undefined || page === undefined || tenth === undefined) throw new RangeError('a part is missing')
  const each = 'µs of CPU an object sent'
  report({ work: 'LIST limit=500, beside LIST of all', unit: each, ours: page, limit: all, most: 1.3 })
  report({ work: 'LIST by a selector matching 10 %, beside LIST of all', unit: each, ours: tenth, limit: all, most: 2 })
}
