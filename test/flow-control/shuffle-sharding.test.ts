import t from 'tap'
import { deal, Dealer, hashOf } from '../../flow-control/shuffle-sharding.js'

t.test('a hand has distinct queues that are there, and is the same each time', t => {
  for (let flow = 0; flow < 500; flow++) {
    const hand = deal(hashOf('schema', `flow ${flow}`), 16, 6)
    t.equal(new Set(hand).size, 6)
    t.ok(hand.every(card => Number.isInteger(card) && card >= 0 && card < 16), hand.join(' '))
    t.same(hand, deal(hashOf('schema', `flow ${flow}`), 16, 6))
  }
  t.end()
})

t.test('all queues are dealt about equally often', t => {
  const dealt = new Array<number>(32).fill(0)
  for (let flow = 0; flow < 8000; flow++) {
    for (const card of deal(hashOf('schema', String(flow)), 32, 4)) dealt[card] = (dealt[card] ?? 0) + 1
  }
  t.ok(Math.min(...dealt) > 850 && Math.max(...dealt) < 1150, dealt.join(' '))
  t.end()
})

t.test('hardly any two flows share all their queues', t => {
  const hands = new Set(Array.from(
    { length: 1000 }, (_, flow) => [...deal(hashOf('schema', String(flow)), 128, 6)].sort((a, b) => a - b).join()
  ))
  t.equal(hands.size, 1000)
  t.end()
})

t.test('schema and distinguisher are not confused', t => {
  t.not(hashOf('ab', 'c'), hashOf('a', 'bc'))
  t.end()
})

t.test('a hand larger than the number of queues is all of them', t => {
  t.same([...new Dealer(3, 8).hand('schema', 'flow')].sort(), [0, 1, 2])
  t.end()
})

t.test('many flows are dealt anew rather than all remembered', t => {
  const dealer = new Dealer(64, 6)
  const first = dealer.hand('schema', 'flow 0')
  for (let flow = 1; flow < 5000; flow++) dealer.hand('schema', `flow ${flow}`)
  t.same(dealer.hand('schema', 'flow 0'), first)
  t.end()
})
