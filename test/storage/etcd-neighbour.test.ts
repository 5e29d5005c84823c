/**
 * Another program on the same etcd, with authentication and rights of its own, costs us nothing but responses to
 * progress requests.
 */
import t from 'tap'
import { openEtcd } from '../../storage/etcd/backend.js'
import { done } from '../contracts/backend.js'
import { Observed } from '../contracts/observed.js'
import { Line } from '../etcd-process.js'
import { startLimitedEtcd } from '../limited-etcd.js'
import { startNeighbour } from '../neighbour.js'

const PREFIX = '/registry'
const RANGE = ['/registry/a/', '/registry/a0'] as const

t.test('beside others who write 1,000 times a second', async t => {
  const limited = await startLimitedEtcd(t)
  const line = await Line.to(t, limited.etcd.port)
  const backend = openEtcd({ ...limited.as('orch-apiserver', `https://127.0.0.1:${line.port}`), prefix: PREFIX })
  t.teardown(() => backend.close())
  const other = openEtcd({ ...limited.as('orch-apiserver'), prefix: PREFIX })
  t.teardown(() => other.close())
  const watch = new Observed(backend, ...RANGE, await backend.revision())
  await watch.upTo(done(await other.create('/registry/a/0', Buffer.from('x'))))
  const neighbour = startNeighbour(t, limited.as('neighbour'))
  await neighbour.more(1)

  await t.test('nothing of theirs reaches us', async t => {
    const before = line.received
    await neighbour.more(2000)
    t.ok(line.received - before < 10_000, `${line.received - before} bytes, of some 2,000,000 that were written`)
  })

  await t.test('the newest state is reached by one answer for each question, or two', async t => {
    const questions = 100
    const before = line.received
    const progress = watch.progress.length
    for (let n = 0; n < questions; n++) await watch.upTo(await backend.revision())
    const each = (line.received - before) / questions
    t.ok(each < 1000, `${each.toFixed(0)} bytes a question`)
    t.ok(watch.progress.length - progress < questions * 4, `${watch.progress.length - progress} steps`)
  })

  await t.test('events of ours come, each once and in order, and what was acknowledged is seen', async t => {
    const revisions: number[] = []
    for (let n = 1; n <= 50; n++) {
      const revision = done(await other.create(`/registry/a/${n}`, Buffer.from('x')))
      revisions.push(revision)
      const newest = await backend.revision()
      t.ok(newest >= revision)
      await watch.upTo(newest)
      t.equal(watch.events.at(-1)?.kv.modRevision, revision, 'acknowledged writes are seen at the newest revision')
    }
    t.same(watch.events.slice(1).map(({ kv }) => kv.modRevision), revisions)
    t.same(watch.faults, [])
  })
  await neighbour.stop()
})
