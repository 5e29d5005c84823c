import t from 'tap'
import { ByteRate } from '../../../serving/wire/byte-rate.js'

t.test(
  'a second\'s worth of bytes is sent at once, the rest over time, in pieces of at most a second\'s worth', async t => {
    let now = 0
    const rate = new ByteRate(1000, () => now)
    t.same(rate.take(600), { piece: 600, wait: 0 })
    t.same(rate.take(400), { piece: 400, wait: 0 })
    t.same(rate.take(500), { piece: 500, wait: 500 })
    now = 400
    t.same(rate.take(500), { piece: 500, wait: 100 }, 'unsent bytes do not count')
    now = 500
    t.same(rate.take(500), { piece: 500, wait: 0 })
    t.same(rate.take(6000), { piece: 1000, wait: 1000 })
    now = 60_000
    t.same(rate.take(6000), { piece: 1000, wait: 0 }, 'no more than a second is saved up')
    t.same(rate.take(5000), { piece: 1000, wait: 1000 })
  }
)
