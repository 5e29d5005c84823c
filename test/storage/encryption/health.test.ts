import t from 'tap'
import { cachedCheck } from '../../../storage/encryption/health.js'

t.test('a success counts for 20 seconds, a failure for 3, and a check that runs is shared', async t => {
  let now = 0
  let calls = 0
  let fails = false
  let release: (() => void) | undefined
  const check = cachedCheck(async () => {
    calls++
    await new Promise<void>(resolve => { release = resolve })
    if (fails) throw new Error('away')
  }, () => now)
  const run = async (): Promise<string> => {
    const [one, other] = [check(), check()]
    release?.()
    const outcomes = await Promise.allSettled([one, other])
    t.equal(outcomes[0].status, outcomes[1].status)
    return outcomes[0].status
  }
  t.equal(await run(), 'fulfilled')
  now = 19_999
  fails = true
  t.equal(await run(), 'fulfilled')
  t.equal(calls, 1)
  now = 20_000
  t.equal(await run(), 'rejected')
  now = 22_999
  fails = false
  t.equal(await run(), 'rejected')
  t.equal(calls, 2)
  now = 23_000
  t.equal(await run(), 'fulfilled')
  t.equal(calls, 3)
})
