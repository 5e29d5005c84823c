import t from 'tap'
import { FailureLog } from '../../../controllers/garbage/failure-log.js'
import { UnknownKind } from '../../../controllers/garbage/owners.js'

const unknown = (kind: string): UnknownKind => new UnknownKind({
  apiVersion: 'example.com/v1', kind, name: 'a', uid: '1'
})

t.test('an owner of an unknown kind is one line, without a stack', async t => {
  const logged: unknown[][] = []
  const failures = new FailureLog((...line) => { logged.push(line) })
  failures.add(unknown('Widget'))
  failures.add(unknown('Widget'))
  t.same(
    logged,
    [[
      'garbage collection waits: owners of kind Widget in example.com/v1 are unknown, their dependents stay', undefined
    ]]
  )
})

t.test('other failures are logged with what they are, a few of many', async t => {
  const logged: unknown[][] = []
  const failures = new FailureLog((...line) => { logged.push(line) })
  const first = new Error('one')
  failures.add(first)
  failures.add(new Error('two'))
  t.strictSame(logged, [['garbage collection of an object failed, retrying', first]])
})
