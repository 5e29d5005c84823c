/**
 * The rolling restart by hand, with 1,000 watches and 2,000 requests a second, or the given numbers.
 *
 *     npm run rolling
 *     WATCHES=200 RATE=500 npm run rolling
 */
import { rolling } from './rolling.js'

/** Maximum requests per second of one client. */
const OF_ONE = 50

const watches = Number(process.env.WATCHES ?? 1000)
const rate = Number(process.env.RATE ?? 2000)
const ends: Array<() => unknown> = []
const began = performance.now()
try {
  const { faults, ...done } = await rolling(
    { teardown: end => ends.unshift(end) },
    { watches, clients: Math.ceil(rate / OF_ONE), pause: 1000 / OF_ONE, requests: rate * 10 }
  )
  const seconds = (performance.now() - began) / 1000
  console.log(
    `${faults.length === 0 ? 'ok    ' : 'FAILED'} ${seconds.toFixed(0)} s, ${(done.requests / seconds).toFixed(0)} ` +
    `requests a second: ${JSON.stringify(done)}`
  )
  for (const fault of faults) console.log(`       ${fault}`)
  process.exitCode = faults.length > 0 ? 1 : 0
} finally {
  for (const end of ends) await end()
}
