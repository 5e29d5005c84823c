import t from 'tap'
import { RestartLimit } from '../../../serving/processes/restart-limit.js'

t.test('five deaths within a minute are too many, over a longer time they are not', async t => {
  const often = new RestartLimit()
  t.same([0, 1000, 2000, 3000, 59_000].map(now => often.recordDeath(now)), [false, false, false, false, true])
  const seldom = new RestartLimit()
  for (let now = 0; now < 1_000_000; now += 16_000) t.notOk(seldom.recordDeath(now))
})
