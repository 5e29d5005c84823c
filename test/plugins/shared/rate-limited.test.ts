import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { rateLimited } from '../../../plugins/shared/rate-limited.js'

t.test('at most a given number of calls is reported, with the number left out', async t => {
  const reported: Array<[number, number]> = []
  const report = rateLimited(3, 60_000, (what: number, leftOut) => { reported.push([what, leftOut]) })
  for (let at = 0; at < 10; at++) report(at)
  t.same(reported, [[0, 0], [1, 0], [2, 0]])
})

t.test('then again, with what was left out meanwhile', async t => {
  const reported: Array<[number, number]> = []
  const report = rateLimited(1, 1, (what: number, leftOut) => { reported.push([what, leftOut]) })
  let left = 0
  for (let at = 0; reported.length < 2; at++) {
    report(at)
    if (reported.length < 2) left = at
    if (at === 5) await sleep(2)
  }
  t.same(reported.map(([, leftOut]) => leftOut), [0, left])
})
