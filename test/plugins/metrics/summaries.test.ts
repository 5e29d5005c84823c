/** Quantiles of recent observations, and their lines. */
import t from 'tap'
import { Quantiles, SummaryFamily } from '../../../plugins/metrics/summaries.js'

t.test('quantiles are those of what was observed, to within a fortieth', async t => {
  const quantiles = new Quantiles({ now: () => 0 })
  for (let value = 1; value <= 1000; value++) quantiles.observe(value / 1000)
  for (const quantile of [0.5, 0.9, 0.99]) {
    t.ok(Math.abs(quantiles.at(quantile) - quantile) <= quantile / 40, `${quantile}: ${quantiles.at(quantile)}`)
  }
  t.equal(quantiles.count, 1000)
})

t.test('values of any size are counted', async t => {
  for (const [value, least, most] of [[0, 0, 2e-6], [1e-9, 0, 2e-6], [1e6, 3000, 4000]] as const) {
    const quantiles = new Quantiles({ now: () => 0 })
    quantiles.observe(value)
    const at = quantiles.at(0.5)
    t.ok(at >= least && at <= most, `${value}: ${at}`)
  }
})

t.test('observations older than the age count for the sum, and for no quantile', async t => {
  let now = 0
  const quantiles = new Quantiles({ maxAge: 5000, now: () => now })
  t.ok(Number.isNaN(quantiles.at(0.5)), 'without observations there is no quantile')
  quantiles.observe(100)
  now = 4000
  quantiles.observe(1)
  t.ok(quantiles.at(0.99) > 90)
  const { version } = quantiles
  now = 5500
  quantiles.rotate()
  t.not(quantiles.version, version, 'cached lines become stale')
  t.ok(quantiles.at(0.99) < 2)
  now = 1e9
  quantiles.rotate()
  t.ok(Number.isNaN(quantiles.at(0.5)))
  t.same([quantiles.count, quantiles.sum], [2, 101])
})

t.test('a summary is written as Prometheus reads it', async t => {
  let now = 0
  const family = new SummaryFamily('waits', '[ALPHA] Waits.', ['kind'], { maxAge: 5000, now: () => now })
  const text = (): string => {
    const pieces: Buffer[] = []
    family.write(pieces)
    return Buffer.concat(pieces).toString()
  }
  family.with('a').observe(2, 3)
  t.match(
    text(),
    /^# HELP waits \[ALPHA\] Waits\.\n# TYPE waits summary\nwaits\{kind="a",quantile="0\.5"\} [12]\.\d+\nwaits\{kind="a",quantile="0\.9"\} \S+\nwaits\{kind="a",quantile="0\.99"\} \S+\nwaits_sum\{kind="a"\} 6\nwaits_count\{kind="a"\} 3\n$/
  )
  now = 10_000
  t.match(text(), /quantile="0\.99"\} NaN\n/)
})
