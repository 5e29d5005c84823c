/** Ten seconds of the soak test on the launcher with each store, and a few on a host of each kind; `npm run soak` is the long one. */
import t from 'tap'
import { drift, table, type Level } from './soak/levels.js'
import { soak } from './soak/soak.js'
import { TARGETS, target } from './soak/targets.js'

t.test('a heap that has not found its level by the tenth minute is a fault, and in a short run one that is far from it', async t => {
  const after = (at: number, heap: number): Level => ({ at, heap, memory: heap, resident: heap, descriptors: 1, timers: 1 })
  const rising = [after(60, 40e6), after(540, 90e6), after(600, 100e6), after(660, 104e6), after(720, 106e6)]
  t.equal(drift(rising.slice(0, 4), 3600), undefined)
  t.match(drift(rising, 3600), /^the heap was 100.0 MB after 600 s and 106.0 MB after 720 s: it may change by 5.0 %, and did by 6.0 %$/)
  t.match(drift([...rising.slice(2, 4), after(780, 94e6)], 3600), /did by -6.0 %$/)
  t.equal(drift([after(7, 40e6), after(9, 90e6)], 10), undefined)
  t.equal(drift([after(210, 40e6), after(270, 45e6)], 300), undefined)
  t.type(drift([after(210, 40e6), after(270, 47e6)], 300), 'string')
  t.match(table(rising, 3600), /after +heap MB[^]*660 s +104.0 +0.0 +104.0 +1 +4.0 %\n/)
})

for (const name of TARGETS) {
  t.test(`${name}: among hostile clients honest ones get what is theirs, and at the end nothing is held`, { timeout: 200_000 }, async t => {
    const { seed, faults, done, levels } = await soak(await target(t, name), name === 'embedded' || name === 'etcd' ? 10 : 4)
    t.comment(`seed ${seed}: ${JSON.stringify(done)}`)
    t.same(faults, [])
    t.ok(levels.length > 0 && levels.every(({ heap }) => heap > 0))
    for (const what of ['read', 'write', 'event', 'namespace']) t.ok((done[what] ?? 0) > 0, `${what}: ${done[what] ?? 0}`)
  })
}
