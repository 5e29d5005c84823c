/** The objects of a type in the graph, whatever happens to their list and watch. */
import t from 'tap'
import type { Change, CollectedType, Progress, Step } from '../../../controllers/garbage/collected-type.js'
import { Graph } from '../../../controllers/garbage/graph.js'
import { Monitor } from '../../../controllers/garbage/monitor.js'
import { stateOf } from '../../../controllers/garbage/object-state.js'
import { Wakeable } from '../../../controllers/garbage/wakeable.js'
import { StorageError } from '../../../storage/errors.js'
import type { Test } from '../../build.js'

const present = (name: string, uid = name): Change => ({ key: name, state: () => stateOf({ metadata: { name, uid } }) })
const gone = (name: string): Change => ({ key: name, state: undefined })

/** A type that yields what the test gives it, one script for each time that it is followed. */
class Scripted {
  readonly graph = new Graph()
  readonly removed: string[] = []
  readonly logged: string[] = []
  lists = 0
  revision: number | undefined = undefined
  left: string[] | undefined
  progress: Progress | undefined
  readonly type: CollectedType
  readonly monitor: Monitor

  constructor (t: Test, scripts: ReadonlyArray<ReadonlyArray<Step | Error>>, inherits = false) {
    const rest = scripts.values()
    this.type = {
      label: 'pods', namespaced: true, isOwn: true, kinds: [], newest: async () => this.revision,
      keys: () => this.#keys(),
      follow: (signal: AbortSignal, progress: Progress) => this.#follow(rest.next().value ?? [], signal, progress)
    } as unknown as CollectedType
    this.monitor = new Monitor(this.type, {
      graph: this.graph, retry: 1, changed: () => {}, removed: ({ uid }) => { this.removed.push(uid) },
      listed: () => { this.lists++ },
      log: message => { this.logged.push(message) }
    }, inherits)
    t.teardown(() => this.monitor.close())
  }

  async * #follow (
    script: ReadonlyArray<Step | Error>, signal: AbortSignal, progress: Progress
  ): AsyncGenerator<Step, void, void> {
    this.progress = progress
    for (const step of script) {
      if (step instanceof Error) throw step
      yield step
    }
    await new Wakeable(signal).wait()
  }

  async * #keys (): AsyncGenerator<readonly string[], void, void> {
    if (this.left === undefined) throw new Error('the store is away')
    yield this.left
  }

  get names (): string[] { return [...this.graph.nodes()].map(({ name }) => name).sort() }
}

const settled = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(resolve => { setImmediate(resolve) })
}

t.test('objects are listed, and their changes followed', async t => {
  const made = new Scripted(t, [[[present('a'), present('b')], [present('c')], 'listed', [gone('a'), present('d')]]])
  made.monitor.start()
  await settled(() => made.names.join() === 'b,c,d')
  t.same([made.removed, made.lists], [['a'], 1])
})

t.test('what was deleted while nothing was followed is found out by the next list', async t => {
  const made = new Scripted(t, [
    [[present('a'), present('b'), present('c')], 'listed', new Error('the line was cut')],
    [[present('a')], new StorageError('Compacted', 'too slow')],
    [[present('b', 'another')], 'listed', [present('d')]]
  ])
  made.monitor.start()
  await settled(() => made.names.join() === 'b,d')
  t.same(made.removed.sort(), ['a', 'b', 'c'], 'another of that name is another')
  t.same(made.logged, ['garbage collection cannot follow pods, retrying'], 'history that is gone is nothing to report')
  t.equal(made.lists, 1, 'all were known already')
})

t.test('an object that cannot be read stays as it was', async t => {
  const unreadable: Change = { key: 'a', state: () => { throw new StorageError('Corrupt', 'damaged') } }
  const made = new Scripted(t, [[[present('a')], 'listed', [unreadable, present('b')]]])
  made.monitor.start()
  await settled(() => made.names.join() === 'a,b')
  t.same([made.removed, made.logged], [[], ['garbage collection cannot read an object of pods']])
})

t.test('a monitor that inherits objects reports those that are gone', async t => {
  const made = new Scripted(t, [[[present('a')], 'listed', [present('c')]]], true)
  for (const name of ['a', 'b']) made.graph.put(made.type, name, stateOf({ metadata: { name, uid: name } }))
  made.monitor.start()
  await settled(() => made.names.join() === 'a,c')
  t.same(made.removed, ['b'])
})

t.test('a type that goes takes the objects along that the store no longer has', async t => {
  for (const [left, removed] of [[['a'], ['b']], [undefined, []]] as const) {
    const made = new Scripted(t, [[[present('a'), present('b')], 'listed']])
    made.left = left?.slice()
    made.monitor.start()
    await settled(() => made.lists === 1)
    await made.monitor.retire()
    t.same([made.removed, made.names], [removed, []])
  }
})

t.test('it has caught up when it has reached the newest revision', async t => {
  const made = new Scripted(t, [[[present('a')], 'listed']])
  made.monitor.start()
  await made.monitor.catchUp()
  made.revision = 5
  let asked = 0
  await settled(() => made.lists === 1) // else answers in the same turn would keep the list from going on
  if (made.progress !== undefined) made.progress.ask = () => { made.progress?.reach(3 + asked++) }
  await made.monitor.catchUp()
  t.equal(asked, 3)
  await made.monitor.catchUp()
  t.equal(asked, 3, 'it is there')
})
