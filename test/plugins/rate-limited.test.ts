import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { rateLimited } from '../../plugins/rate-limited.js'

t.test('so many times and no more, and how often it was left out', async t => {
  const told: Array<[number, number]> = []
  const tell = rateLimited(3, 60_000, (what: number, leftOut) => { told.push([what, leftOut]) })
  for (let at = 0; at < 10; at++) tell(at)
  t.same(told, [[0, 0], [1, 0], [2, 0]])
})

t.test('then again, with what was left out meanwhile', async t => {
  const told: Array<[number, number]> = []
  const tell = rateLimited(1, 1, (what: number, leftOut) => { told.push([what, leftOut]) })
  let left = 0
  for (let at = 0; told.length < 2; at++) {
    tell(at)
    if (told.length < 2) left = at
    if (at === 5) await sleep(2)
  }
  t.same(told.map(([, leftOut]) => leftOut), [0, left])
})
