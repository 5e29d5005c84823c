import t from 'tap'
import { openMemory } from '../../../storage/embedded/memory.js'
import { StorageError } from '../../../storage/errors.js'
import { StatusError } from '../../../schemas/status.js'
import { nextTurn, turnIsOver } from '../../../event-loop/turns.js'
import { Trace } from '../../../registry/trace.js'
import { Repeat, runStages, type Stage } from '../../../registry/stages/run.js'
import { Write } from '../../../registry/stages/write.js'
import type { WriteContext } from '../../../registry/write-context.js'
import { configMapStore, context, target } from '../../storage/store.js'
import type { Test } from '../../build.js'

const LARGE = 100_000

function build (t: Test, given: Partial<WriteContext> = {}) {
  const write = new Write(
    { store: configMapStore(t, openMemory()), target: target('a'), context: { ...context, ...given } }, 'CREATE'
  )
  const ran: string[] = []
  const stage = (name: string, run: Stage['run'] = () => {}, more: Partial<Stage> = {}): Stage => ({
    name,
    run: running => {
      ran.push(name)
      return run(running)
    },
    ...more
  })
  return { write, ran, stage }
}

t.test('stages run in order, whether they return nothing, steps or a promise', async t => {
  const { write, ran, stage } = build(t)
  await runStages([
    stage('one'),
    stage('two', function * () { yield; ran.push('second step'); yield Promise.resolve(); ran.push('third step') }),
    stage('skipped', () => {}, { when: () => false }),
    stage('three', async () => { await Promise.resolve() }),
    stage('four', running => { running.isDone = true }),
    stage('never')
  ], write)
  t.strictSame(ran, ['one', 'two', 'second step', 'third step', 'three', 'four'])
})

t.test(
  'a small write runs in one turn; others have their turn between the stages and steps of a large one', async t => {
    for (const [size, isShared] of [[10, false], [LARGE, true]] as const) {
      const { write, ran, stage } = build(t, { size })
      await nextTurn()
      const waiting = nextTurn().then(() => { ran.push('other') })
      await runStages([stage('one', function * () { yield; ran.push('second step') }), stage('two')], write)
      await waiting
      t.equal(ran.indexOf('other') < ran.indexOf('second step'), isShared, ran.join())
    }
  }
)

t.test(
  'when the budget of a turn is used up, the steps of a long stage go on in a later one, and short ones at once',
  async t => {
    for (const isLong of [true, false]) {
      const { write, ran, stage } = build(t)
      await nextTurn()
      const waiting = nextTurn().then(() => { ran.push('other') })
      await runStages([stage('one', function * () {
        while (!turnIsOver());
        yield
        ran.push('second step')
      }, { isLong })], write)
      await waiting
      t.strictSame(ran, isLong ? ['one', 'other', 'second step'] : ['one', 'second step', 'other'])
    }
  }
)

t.test('only stages that name a span have one, failed stages included', async t => {
  const trace = new Trace()
  const { write, stage } = build(t, { caller: { ...context.caller, signal: context.caller.signal, trace } })
  const failure = new StatusError('Forbidden', 'no')
  const spans: Array<string | undefined> = []
  const note = (running: Write): void => { spans.push(running.trace?.name) }
  await t.rejects(runStages([
    stage('plain', note),
    stage('named', note, { span: 'Named', fields: () => ({ operation: 'create' }) }),
    stage('failing', () => { throw failure }, { span: 'Failing' })
  ], write), failure)
  t.strictSame(spans, ['', 'Named'])
  t.match(trace.items, [
    { name: 'Named', fields: { operation: 'create' }, failure: undefined }, { name: 'Failing', failure }
  ])
  t.equal(write.trace, trace)
})

t.test('a write is repeated from the named stage, and what it allocated before that is reverted', async t => {
  for (const [from, reverts] of [['read', 1], ['takes a value', 1], ['validate', 0]] as const) {
    const { write, ran, stage } = build(t)
    let attempts = 0
    let reverted = 0
    const takes: Stage = stage('takes a value', running => {
      running.undo.push({ of: takes, revert: async () => { reverted++ } })
    })
    const stages = [
      stage('read'),
      takes,
      stage('validate'),
      stage('store', running => { running.outcome = { succeeded: attempts > 0, revision: 1 } as Write['outcome'] }),
      stage('conclude', () => {
        if (attempts++ === 0) throw new Repeat(stages.find(({ name }) => name === from) as Stage)
      })
    ]
    await runStages(stages, write)
    const all = ['read', 'takes a value', 'validate', 'store', 'conclude']
    t.strictSame(ran, [...all, ...all.slice(all.indexOf(from))])
    t.equal(reverted, reverts, from)
  }
})

t.test('a failure reverts allocations, unless the object may exist, and is never retried then', async t => {
  const refusal: Error = new StatusError('Invalid', 'no')
  const unknown = new StorageError('UnknownOutcome', 'the connection was lost')
  for (const [failure, reverts, recoveries] of [[refusal, 1, 1], [unknown, 0, 0]] as const) {
    const { write, ran, stage } = build(t)
    let reverted = 0
    let recovered = 0
    const store = stage('store', () => { throw failure })
    write.undo.push({ of: store, revert: async () => { reverted++ } })
    const recover = async (): Promise<Repeat> => {
      if (recovered++ > 0) throw failure
      return new Repeat(store)
    }
    await t.rejects(runStages([store], write, recover), failure)
    t.equal(reverted, reverts)
    t.equal(recovered, recoveries * 2)
    t.equal(ran.length, recoveries + 1)
  }
})

t.test('what was stored is not stored again, whatever fails after that', async t => {
  const { write, ran, stage } = build(t)
  const failure = new StatusError('InternalError', 'no')
  const store = stage('store', running => { running.outcome = { succeeded: true, revision: 1 } })
  await t.rejects(
    runStages([store, stage('conclude', () => { throw failure })], write, async () => new Repeat(store)), failure
  )
  t.strictSame(ran, ['store', 'conclude'])
})

t.test('when the client is gone no further stage runs, but what was sent to the store is answered for', async t => {
  const caller = { isGone: false, signal: new AbortController().signal }
  const leave = (): void => { caller.isGone = true }
  const early = build(t, { caller })
  let reverted = 0
  const takes: Stage = early.stage('allocate', running => {
    running.undo.push({ of: takes, revert: async () => { reverted++ } })
  })
  await t.rejects(runStages([
    takes,
    early.stage('leave', leave),
    early.stage('store')
  ], early.write, async () => t.fail('it is not repeated') as never), {
    message: /the request ended before its object was written/, unlogged: true
  })
  t.strictSame(early.ran, ['allocate', 'leave'])
  t.equal(reverted, 1)

  caller.isGone = false
  const late = build(t, { caller })
  await runStages([
    late.stage('store', running => {
      running.outcome = { succeeded: true, revision: 1 }
      leave()
    }),
    late.stage('conclude')
  ], late.write)
  t.strictSame(late.ran, ['store', 'conclude'])
})

t.test('a write whose client is gone is not repeated, and says whether it has stored anything', async t => {
  for (const [isStored, said] of [
    [false, /nothing was changed/], [true, /what was stored until then stays/]
  ] as const) {
    const caller = { isGone: false, signal: new AbortController().signal }
    const { write, ran, stage } = build(t, { caller })
    const first = stage('first')
    await t.rejects(runStages([first, stage('conflict', running => {
      running.outcome = { succeeded: false, revision: 1, current: undefined }
      running.isStored = isStored
      caller.isGone = true
      throw new Repeat(first)
    })], write), said)
    t.strictSame(ran, ['first', 'conflict'])
  }
})

t.test('a write is repeated only from a stage that it has', async t => {
  const { write, stage } = build(t)
  await t.rejects(runStages([stage('one', () => { throw new Repeat({ name: 'one' }) })], write), TypeError)
})

t.test('the signal of a caller is never asked for', async t => {
  const caller = { get signal (): AbortSignal { return t.fail('it costs more than a boolean') as never } }
  const { write, stage } = build(t, { caller })
  let attempts = 0
  const one = stage('one')
  await runStages([one, stage('two', async () => { if (attempts++ === 0) throw new Repeat(one) })], write)
})
