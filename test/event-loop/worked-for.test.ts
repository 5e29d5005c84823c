import t from 'tap'
import { Trace } from '../../registry/trace.js'
import { nextTurn, yieldToStarted } from '../../event-loop/turns.js'
import { shareWorkedFor, workedFor, workFor } from '../../event-loop/worked-for.js'

const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

t.test('it is known after steps and turns of a request, and forgotten at the end of a turn', async t => {
  workFor(7)
  t.equal(workedFor(), 0, 'nobody reads it')
  const cell = new Int32Array(2)
  shareWorkedFor(cell)
  const request = async (number: number, wait: () => Promise<void>): Promise<void> => {
    workFor(number)
    for (let step = 0; step < 5; step++) {
      await wait()
      t.equal(cell[0], number)
    }
  }
  await Promise.all([request(1, nextTurn), request(2, nextTurn), request(3, yieldToStarted)])
  await turn()
  t.equal(cell[0], 0)
  const trace = new Trace()
  trace.workFor(4)
  await turn()
  t.equal(cell[0], 0)
  trace.start('a part').step('a step')
  t.equal(cell[0], 4)
  workFor(0)
  t.equal(cell[0], 4, 'work for nobody changes nothing')
  await turn()
  new Trace().step('of no number')
  t.equal(cell[0], 0)
})
