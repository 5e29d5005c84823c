/** Ten seconds of the soak test on the launcher with each store, and a few on a host of each kind; `npm run soak` is the long one. */
import t from 'tap'
import { soak } from './soak/soak.js'
import { TARGETS, target } from './soak/targets.js'

for (const name of TARGETS) {
  t.test(`${name}: among hostile clients honest ones get what is theirs, and at the end nothing is held`, { timeout: 200_000 }, async t => {
    const { seed, faults, done } = await soak(await target(t, name), name === 'embedded' || name === 'etcd' ? 10 : 4)
    t.comment(`seed ${seed}: ${JSON.stringify(done)}`)
    t.same(faults, [])
    for (const what of ['read', 'write', 'event', 'namespace']) t.ok((done[what] ?? 0) > 0, `${what}: ${done[what] ?? 0}`)
  })
}
