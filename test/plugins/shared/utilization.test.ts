import t from 'tap'
import { HistogramFamily } from '../../../plugins/shared/metric-series.js'
import { PARTS, Utilization, utilizationSeries } from '../../../plugins/shared/utilization.js'

function made (limit: number) {
  let now = 0
  const samples = new HistogramFamily('samples', 'Samples.', ['phase', 'of'], PARTS)
  const marks = new HistogramFamily('marks', 'Marks.', ['mark', 'phase', 'of'], PARTS)
  const used = new Utilization(utilizationSeries(samples, marks, 'executing', 'level'), limit, () => now)
  const text = (family: HistogramFamily): string => {
    const pieces: Buffer[] = []
    family.write(pieces)
    return Buffer.concat(pieces).toString()
  }
  const numbers = (family: HistogramFamily, more: string): { count: number, sum: number } => {
    const value = (what: string): number =>
      Number(new RegExp(`_${what}\\{${more}phase="executing",of="level"\\} (.*)`).exec(text(family))?.[1])
    return { count: value('count'), sum: Math.round(value('sum') * 1000) / 1000 }
  }
  return {
    used,
    pass: (ms: number) => { now += ms },
    sampled: () => numbers(samples, ''),
    low: () => numbers(marks, 'mark="low",'),
    high: () => numbers(marks, 'mark="high",')
  }
}

t.test('usage is sampled each millisecond up to the last change', t => {
  const { used, pass, sampled } = made(10)
  used.set(5)
  t.same(sampled(), { count: 0, sum: 0 }, 'no millisecond is over')
  pass(100)
  used.set(10)
  pass(50)
  used.set(0)
  t.same(sampled(), { count: 150, sum: 100 * 0.5 + 50 * 1 })
  pass(1000)
  t.same(sampled(), { count: 150, sum: 100 }, 'nothing has changed since')
  t.end()
})

t.test('the least and the most within a millisecond are not lost between samples', t => {
  const { used, pass, sampled, low, high } = made(10)
  used.set(2)
  pass(10)
  used.set(8)
  used.set(0)
  used.set(4)
  pass(1)
  used.set(5)
  t.same(sampled(), { count: 11, sum: 10 * 0.2 + 0.4 })
  t.same(high(), { count: 11, sum: Math.round((10 * 0.2 + 0.8) * 1000) / 1000 })
  t.same(low(), { count: 11, sum: Math.round((0 + 9 * 0.2 + 0) * 1000) / 1000 }, 'it began with none')
  t.end()
})

t.test('a change of the limit changes the part that is in use', t => {
  const { used, pass, sampled } = made(10)
  used.set(5)
  pass(1)
  used.set(5, 5)
  pass(1)
  used.set(0)
  t.same(sampled(), { count: 2, sum: 1.5 })
  t.end()
})
