/**
 * The soak test by hand: five minutes on each server, or so many seconds, on all or the named ones.
 *
 *     npm run soak
 *     npm run soak -- 60 embedded host-http2
 */
import { soak } from './soak.js'
import { TARGETS, target, type TargetName } from './targets.js'

/** Milliseconds: a store in memory keeps the history of five minutes, and looks after it as often. */
const SETTLE = 660_000

const [first = '300', ...rest] = process.argv.slice(2)
const seconds = Number(first)
const named = TARGETS.filter(name => rest.includes(name))
const chosen: readonly TargetName[] = named.length === 0 ? TARGETS : named
let failed = 0
for (const name of chosen) {
  const ends: Array<() => unknown> = []
  try {
    const { seed, faults, done, before, after } = await soak(await target({ teardown: end => ends.unshift(end) }, name), seconds, Number(process.env.SEED) || undefined, SETTLE)
    console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s, seed ${seed}\n       ${Object.entries(done).map(([what, times]) => `${what} ${times}`).join(', ')}`)
    console.log(`       before ${JSON.stringify(before)}\n       after  ${JSON.stringify(after)}`)
    for (const fault of faults) console.log(`       ${fault}`)
    if (faults.length > 0) failed++
  } finally {
    for (const end of ends) await end()
  }
}
process.exitCode = failed > 0 ? 1 : 0
