/** The stages that remove an object that cannot be read, each alone. */
import t from 'tap'
import { conclude, DamagedWrite, find } from '../../../registry/verbs/delete-damaged.js'
import { create } from '../../../registry/verbs/create.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { StorageError } from '../../../storage/errors.js'
import { config, configMapStore, context, target } from '../../storage/store.js'
import type { Test } from '../../build.js'
import { failureOf } from './write.js'

const damage = new StorageError('Corrupt', 'damaged')

async function damaged (t: Test, preconditions?: ConstructorParameters<typeof DamagedWrite>[1]) {
  const store = configMapStore(t, openMemory())
  const { revision } = await store.backend.create(store.keys.of('default', 'a'), Buffer.from('not an object'))
  return Object.assign(
    new DamagedWrite({ store, target: target('a'), context }, preconditions, damage), { stored: revision }
  )
}

t.test('find: the stored revision of what cannot be read is what is removed', async t => {
  const write = await damaged(t)
  await find(write)
  t.equal(write.revision, write.stored)
})

t.test('find: a precondition on its version is compared, one on its uid never holds', async t => {
  for (const [preconditions, refused] of [
    [{ resourceVersion: '2' }, false], [{ resourceVersion: '999' }, true], [{ uid: 'u' }, true]
  ] as const) {
    const write = await damaged(t, preconditions)
    const failure = await failureOf(() => find(write))
    if (refused) t.match(failure, { status: { reason: 'Conflict', message: /UID cannot be compared/ } })
    else t.equal(failure, undefined)
  }
})

t.test('find: an object that can be read is not removed this way, nor one that is missing', async t => {
  const { store } = await damaged(t)
  await create(store, config('b'), target(''), context)
  const write = new DamagedWrite({ store, target: target('b'), context }, undefined, damage)
  t.equal(await failureOf(() => find(write)), damage)
  t.match(
    await failureOf(() => find(new DamagedWrite({ store, target: target('c'), context }, undefined, damage))),
    { status: { reason: 'NotFound' } }
  )
})

t.test('conclude: the answer is what its key says; a change meanwhile is a conflict', async t => {
  const write = await damaged(t)
  await find(write)
  write.outcome = { succeeded: false, revision: 9, current: undefined }
  t.match(await failureOf(() => { conclude(write) }), { status: { reason: 'Conflict' } })
  write.outcome = { succeeded: true, revision: 9 }
  conclude(write)
  t.match(write.answer, { revision: 9, object: { kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } } })
  write.outcome = undefined // a dry run
  conclude(write)
  t.equal(write.answer.revision, write.stored)
})
