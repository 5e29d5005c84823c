import t from 'tap'
import { afterPoll, afterWork, startInNextTurn } from '../../event-loop/batching.js'
import { nextTurn } from '../../event-loop/turns.js'
import { resumed, spin } from '../storage/turn-counter.js'

const countsOf = (turns: readonly number[]): number[] =>
  [...new Set(turns)].map(turn => turns.filter(other => other === turn).length)

t.test(
  'queued requests that take long start in turns of their own, ' +
  'others together while the turn has time, all in their order',
  async t => {
    const started = (): Promise<void> => new Promise(resolve => { startInNextTurn(resolve) })
    const long = await resumed(10, () => { spin(3) }, started)
    t.same(long.map(([, at]) => at), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    t.equal(new Set(long.map(([turn]) => turn)).size, 10, 'others are served between any two')
    const some = await resumed(40, () => { spin(0.4) }, started)
    t.same(some.map(([, at]) => at), Array.from({ length: 40 }, (_, at) => at))
    const most = Math.max(...countsOf(some.map(([turn]) => turn)))
    t.ok(most > 3 && most <= 21, `${most} of 0.4 ms started together`)
    const short = await resumed(5000, () => {}, started)
    t.ok(new Set(short.map(([turn]) => turn)).size < 2000)
  }
)

t.test('steps come after the work at hand, in their order, one that fails included', async t => {
  const order: string[] = []
  const failures: unknown[] = []
  const take = (error: unknown): void => { failures.push(error) }
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', take)
  for (const name of ['a', 'b', 'c']) {
    order.push(`work of ${name}`)
    afterWork(() => {
      order.push(`step of ${name}`)
      if (name === 'b') throw new Error('b fails')
    })
  }
  await nextTurn()
  process.removeListener('uncaughtException', take)
  for (const listener of listeners) process.on('uncaughtException', listener)
  t.same(order, ['work of a', 'work of b', 'work of c', 'step of a', 'step of b', 'step of c'])
  t.match(failures, [{ message: 'b fails' }])
})

t.test('queued requests that start in one turn take their last steps together', async t => {
  const order: string[] = []
  await Promise.all(Array.from({ length: 200 }, async () => {
    await new Promise<void>(resolve => {
      startInNextTurn(() => {
        order.push('start')
        afterWork(() => {
          order.push('end')
          resolve()
        })
      })
    })
  }))
  const text = order.join(' ')
  t.match(text, /start start( end){2}/)
  t.equal(order.filter(step => step === 'end').length, 200)
})

t.test('requests that are read in one turn are served after the last of them', async t => {
  const order: string[] = []
  for (const name of ['a', 'b']) {
    order.push(`read ${name}`)
    afterPoll({}, () => { order.push(`serve ${name}`) })
    await Promise.resolve()
  }
  await new Promise(resolve => setImmediate(resolve))
  t.same(order, ['read a', 'read b', 'serve a', 'serve b'])
})

t.test(
  'requests of each client are served in their order, and those of one with many do not delay the others', async t => {
    const order: string[] = []
    const many = {}
    for (let at = 0; at < 60; at++) afterPoll(many, () => { spin(1); order.push(`many ${at}`) })
    afterPoll({}, () => { order.push('one') })
    await new Promise(resolve => setImmediate(resolve))
    t.ok(order.length < 20, `${order.length} milliseconds in a turn`)
    t.equal(order[1], 'one')
    afterPoll({}, () => { order.push('later') })
    while (order.length < 62) await nextTurn()
    t.ok(order.indexOf('later') < 20)
    t.same(order.filter(step => step.startsWith('many')), Array.from({ length: 60 }, (_, at) => `many ${at}`))
  }
)

t.test('a request that fails to be served does not block the others', async t => {
  const failures: unknown[] = []
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', error => { failures.push(error) })
  let served = false
  afterPoll({}, () => { throw new Error('it fails') })
  afterPoll({}, () => { served = true })
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  process.removeAllListeners('uncaughtException')
  for (const listener of listeners) process.on('uncaughtException', listener)
  t.ok(served)
  t.match(failures, [{ message: 'it fails' }])
})
