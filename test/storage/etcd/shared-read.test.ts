import t from 'tap'
import { SharedRead } from '../../../storage/etcd/shared-read.js'

t.test('callers of one turn share a read; who comes while it is under way waits for the next', async t => {
  const reads: Array<{ answer: (value: number) => void, fail: (error: Error) => void }> = []
  let begun = () => {}
  const shared = new SharedRead(() => new Promise<number>((resolve, reject) => {
    reads.push({ answer: resolve, fail: reject })
    begun()
  }))
  const next = () => new Promise<void>(resolve => { begun = resolve })

  let start = next()
  const first = [shared.ask(), shared.ask()]
  await start
  t.equal(reads.length, 1)
  const second = [shared.ask(), shared.ask()]
  start = next()
  reads[0]?.answer(1)
  t.same(await Promise.all(first), [1, 1])
  await start
  t.equal(reads.length, 2, 'one more read for both')
  const third = shared.ask()
  start = next()
  reads[1]?.fail(new Error('lost'))
  for (const asked of second) await t.rejects(asked, { message: 'lost' })
  await start
  reads[2]?.answer(3)
  t.equal(await third, 3, 'a failure is not handed on')
})
