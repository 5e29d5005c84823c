import t from 'tap'
import { nextTurn, turnIsOver } from '../../storage/turns.js'

const spin = (milliseconds: number): void => {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

t.test('of those who wait for a turn, one goes on in each', async t => {
  let turn = 0
  let counting = true
  const count = (): void => {
    turn++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const resumed = await Promise.all(Array.from({ length: 10 }, async (_, at) => {
    await nextTurn()
    return [turn, at] as const
  }))
  counting = false
  t.same(resumed.map(([, at]) => at), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.equal(new Set(resumed.map(([at]) => at)).size, 10)
})

t.test('what others did in a turn counts too', async t => {
  await nextTurn()
  t.equal(turnIsOver(), false)
  spin(10)
  t.equal(turnIsOver(), true, 'whoever asks')
  await nextTurn()
  t.equal(turnIsOver(), false)
})
