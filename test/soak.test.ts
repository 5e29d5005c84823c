/**
 * Six seconds of the soak test on the launcher with each store, and four on each kind of host, all in one process;
 * `npm run soak` is the long version.
 */
import t from 'tap'
import { Ends } from './benchmarks/ends.js'
import { growth, soakCluster, type Cycle } from './soak/cluster.js'
import { drift, table, type Level } from './soak/levels.js'
import { soak } from './soak/soak.js'
import { target } from './soak/targets.js'

t.test(
  'a heap that has not found its level by the tenth minute is a fault, and in a short run one that is far from it',
  async t => {
    const after = (at: number, heap: number): Level => ({
      at, heap, memory: heap, resident: heap, descriptors: 1, timers: 1
    })
    const looks = (...heaps: number[]): Level[] => [
      after(60, 40e6), after(540, 90e6), ...heaps.map((heap, index) => after(600 + 60 * index, heap * 1e6))
    ]
    t.equal(drift(looks(100, 104, 98, 101, 103, 100), 3600), undefined)
    t.match(
      drift(looks(100, 104, 98, 101, 107, 100), 3600),
      /^the heap was 107.0 MB after 840 s, 5.9 % from the level of 101.0 MB: it may be 5.0 %$/
    )
    t.match(drift(looks(100, 94, 100, 101, 101, 100), 3600), /^the heap was 94.0 MB after 660 s, -6.0 %/)
    t.match(
      drift(looks(97, 98, 100, 101, 103, 104), 3600),
      /^the heap changed by 6.2 % from the first third of the looks to the last one/
    )
    t.equal(drift([after(7, 40e6), after(9, 44e6)], 10), undefined)
    t.equal(drift([after(210, 40e6), after(270, 45e6)], 300), undefined)
    t.type(drift([after(210, 40e6), after(270, 52e6)], 300), 'string')
    t.match(table(looks(100, 104, 102), 3600), /after +heap MB[^]*660 s +104.0 +0.0 +104.0 +1 +2.0 %\n/)
  }
)

t.test('pods of a simulated cluster come and go, nothing is lost and no informer lists again', async t => {
  await using ends = new Ends()
  const cycles = await soakCluster(ends, 0.5, { nodes: 3, pods: 6, rate: 50, rest: 10 })
  t.ok(
    cycles.length > 0 &&
      cycles.every(({ patches, seen, memory, heap }) => patches > 0 && seen > 0 && memory > heap && heap > 0)
  )
})

t.test('a server whose heap grows from cycle to cycle is a fault', t => {
  const cycles = (...heaps: number[]): Cycle[] => heaps.map((heap, at) => ({
    at: 700 + at, patches: 1, seen: 1, memory: 2 * heap, heap
  }))
  t.equal(growth(cycles(100, 104, 98, 101, 107, 100)), undefined)
  t.match(
    growth(cycles(100, 100, 104, 106, 112, 114)), /held 100 MB in the first third of its cycles, 11\d MB in the last/
  )
  t.equal(growth(cycles(100, 200)), undefined, 'too few to tell')
  t.equal(growth(cycles(100, 100, 200).map(cycle => ({ ...cycle, at: 1 }))), undefined, 'not warm yet')
  t.end()
})

const WORK = ['read', 'write', 'event', 'namespace']

for (const [name, seconds, places] of [['embedded', 6, 1], ['etcd', 6, 1], ['hosts', 4, 4]] as const) {
  t.test(`${name}: among hostile clients honest ones get what is theirs, and at the end nothing is held`, async t => {
    const { seed, faults, done, levels } = await soak(await target(t, name), seconds, undefined, undefined, WORK)
    t.comment(`seed ${seed}: ${JSON.stringify(done)}`)
    t.same(faults, [])
    t.ok(levels.length > 0 && levels.every(({ heap }) => heap > 0))
    t.equal(Object.keys(done).length, places)
    for (const [place, actions] of Object.entries(done)) {
      for (const what of WORK) t.ok((actions[what] ?? 0) > 0, `${what} in ${place}: ${actions[what] ?? 0}`)
    }
  })
}
