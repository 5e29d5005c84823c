import t from 'tap'
import { yieldToStarted, runStepsYielding, nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { resumed, spin } from '../storage/turn-counter.js'

t.test('those who wait go on in their order, in each turn until it has lasted long enough', async t => {
  const order = await resumed(10, () => { spin(5) })
  t.same(order.map(([, at]) => at), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  for (const one of new Set(order.map(([turn]) => turn))) {
    t.ok(order.filter(([turn]) => turn === one).length <= 2, 'twice five milliseconds are enough')
  }
})

t.test('thousands who have little to do do not wait for as many turns', async t => {
  const order = await resumed(5000, () => {})
  t.ok(new Set(order.map(([turn]) => turn)).size < 500)
})

t.test('the work of others in a turn counts too', async t => {
  await nextTurn()
  t.equal(turnIsOver(), false)
  spin(10)
  t.equal(turnIsOver(), true, 'for every caller')
  await nextTurn()
  t.equal(turnIsOver(), false)
})

t.test('work on a large object that has started goes before work that has not', async t => {
  const order: string[] = []
  const work = async (name: string): Promise<void> => {
    await yieldToStarted()
    for (const step of [1, 2]) {
      order.push(`${name}${step}`)
      await nextTurn()
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  t.same(order, ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'])
})

t.test('those who have not begun do so in the end, however many others go on', async t => {
  const over = new AbortController()
  const others = Promise.all(Array.from({ length: 5 }, async () => {
    while (!over.signal.aborted) {
      spin(1)
      await nextTurn()
    }
  }))
  for (let at = 0; at < 3; at++) await yieldToStarted()
  over.abort()
  await others
  t.pass('they have')
})

t.test('work in steps gives a turn to others between any two', async t => {
  let turns = 0
  let counting = true
  const count = (): void => {
    turns++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  t.equal(await runStepsYielding((function * () {
    for (let step = 0; step < 5; step++) yield
    return 'made'
  })()), 'made')
  counting = false
  t.ok(turns >= 4, `${turns} turns`)
})
