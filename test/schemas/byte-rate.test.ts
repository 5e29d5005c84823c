import t from 'tap'
import { ByteRate } from '../../schemas/byte-rate.js'

t.test('a second of bytes may go at once, the rest as time goes on', async t => {
  let now = 0
  const rate = new ByteRate(1000, () => now)
  t.equal(rate.take(600), 0)
  t.equal(rate.take(400), 0)
  t.equal(rate.take(500), 500, 'what went too early is waited for')
  now = 500
  t.equal(rate.take(100), 100)
  now = 600
  t.equal(rate.take(0), 0)
  now = 60_000
  t.equal(rate.take(1000), 0, 'no more than a second is saved up')
  t.equal(rate.take(1), 1)
})
