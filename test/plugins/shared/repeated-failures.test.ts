import t from 'tap'
import { withoutRepeats } from '../../../plugins/shared/repeated-failures.js'

t.test('a failure that repeats is logged once, then counted at ever longer intervals', async t => {
  const lines: string[] = []
  const log = withoutRepeats(message => { lines.push(message) }, 5)
  const repeat = setInterval(() => { log('a task failed', new Error('the disk is full')) }, 1)
  t.teardown(() => { clearInterval(repeat) })
  log('a task failed', new Error('the disk is full'))
  log('another task failed', new Error('the disk is full'))
  log('a third task failed', new Error('of its own'))
  const started = performance.now()
  while (lines.length < 6) await new Promise(resolve => { setTimeout(resolve, 2) })
  t.same(lines.slice(0, 2), ['a task failed', 'a third task failed'])
  for (const line of lines.slice(2)) t.match(line, /^\d+ more failures had the same reason$/)
  t.ok(performance.now() - started >= 5 + 10 + 20 + 40 - 4, 'a timer never fires early')
})

t.test('a failure that returns after a quiet time is logged in full', async t => {
  const lines: string[] = []
  const log = withoutRepeats(message => { lines.push(message) }, 1)
  while (lines.length < 2) {
    log('a task failed', new Error('the disk is full'))
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  t.same(lines, ['a task failed', 'a task failed'])
})
