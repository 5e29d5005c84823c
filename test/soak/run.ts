/**
 * The soak test by hand: five minutes, or the given time, on each server or the named ones. From the tenth minute on
 * the heap must keep its level within 5 %. Runs of less than a quarter of an hour check their last third, with a wider
 * bound the shorter they are.
 *
 *     npm run soak
 *     npm run soak -- 1h embedded
 *     npm run soak -- 60s embedded host-http2
 *     npm run soak -- 1h cluster
 *
 * The last one has simulated nodes instead of hostile clients (cluster.ts).
 */
import { Ends } from '../benchmarks/ends.js'
import { readDuration } from '../../config/flag.js'
import { CLUSTER, soakCluster } from './cluster.js'
import { table } from './levels.js'
import { soak } from './soak.js'
import { TARGETS, target, type TargetName } from './targets.js'

/** Milliseconds: a store in memory keeps five minutes of history, and checks it as often. */
const SETTLE = 660_000

const [first = '5m', ...rest] = process.argv.slice(2)
const seconds = (readDuration(first) ?? NaN) / 1000
if (!(seconds > 0)) throw new Error(`${first} is no duration such as 90s, 15m or 1h`)
const named = TARGETS.filter(name => rest.includes(name))
const chosen: readonly TargetName[] = named.length === 0 && !rest.includes('cluster') ? TARGETS : named
let failed = 0
if (rest.includes('cluster')) {
  await using ends = new Ends()
  await soakCluster(ends, seconds, CLUSTER, ({ at, patches, seen, memory, heap }) => {
    console.log(
      `${at.toFixed(0)} s: p99 of a status patch ${patches.toFixed(0)} ms, of a binding until its node sees it ` +
      `${seen.toFixed(0)} ms; ${memory.toFixed(0)} MB, of which ${heap.toFixed(0)} MB of objects`
    )
  })
  console.log(`ok     cluster, ${seconds} s`)
}
for (const name of chosen) {
  const ends: Array<() => unknown> = []
  try {
    const { seed, faults, done, before, after, levels } = await soak(
      await target({ teardown: end => ends.unshift(end) }, name), seconds, Number(process.env.SEED) || undefined, SETTLE
    )
    const counts =
      Object.values(done).flatMap(actions => Object.entries(actions).map(([what, times]) => `${what} ${times}`))
    console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s, seed ${seed}`)
    console.log(`       ${counts.join(', ')}`)
    console.log(table(levels, seconds))
    console.log(`       before ${JSON.stringify(before)}\n       after  ${JSON.stringify(after)}`)
    for (const fault of faults) console.log(`       ${fault}`)
    if (faults.length > 0) failed++
  } finally {
    for (const end of ends) await end()
  }
}
process.exitCode = failed > 0 ? 1 : 0
