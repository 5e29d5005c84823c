import t from 'tap'
import type { Precondition } from '../../../registry/admission.js'
import type { Backend } from '../../../storage/backend.js'
import { StatusError } from '../../../schemas/status.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { StorageError } from '../../../storage/errors.js'
import { timed } from '../../../storage/observer.js'
import { createOn } from '../../../registry/stages/create-on.js'
import { create } from '../../../registry/verbs/create.js'
import { done } from '../../contracts/backend.js'
import { config, configMapStore, context, target } from '../../storage/store.js'

const bytes = (text: string) => Buffer.from(text)

const reasonOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(() => undefined, (error: unknown) => error instanceof StatusError ? error.status.reason : String(error))

async function basisIn (backend: Backend, holds: () => Promise<boolean>): Promise<Precondition> {
  return { backend, key: '/namespaces/team', revision: done(await backend.create('/namespaces/team', bytes('active'))), holds }
}

t.test('the precondition of a create is compared in the write, if one store has both', async t => {
  const backend = openMemory()
  const basis = await basisIn(backend, async () => t.fail('the precondition was read again'))
  t.match(await createOn(basis, backend, { key: '/a', value: bytes('x') }), { succeeded: true })
  done(await backend.update(basis.key, bytes('going'), basis.revision))
  t.match(await createOn(basis, backend, { key: '/b', value: bytes('x') }), { succeeded: false, current: undefined })
  t.equal((await backend.get('/b')).kv, undefined)
})

t.test('stores that time their requests apart are one where they are', async t => {
  const backend = openMemory()
  const asked: string[] = []
  const [one, other] = ['one', 'other'].map(name => timed(backend, operation => { asked.push(`${operation} ${name}`) })) as [Backend, Backend]
  const basis = { ...await basisIn(backend, async () => t.fail('the precondition was read again')), backend: one }
  t.match(await createOn(basis, other, { key: '/a', value: bytes('x') }), { succeeded: true })
  t.same(asked, ['create other'])
})

t.test('in a store of its own it is looked at again when the key is there, and the key taken back where it has changed', async t => {
  const [other, backend] = [openMemory(), openMemory()]
  let there: unknown
  let holding = true
  const basis = await basisIn(other, async () => {
    there = (await backend.get('/a')).kv
    return holding
  })
  t.match(await createOn(basis, backend, { key: '/a', value: bytes('x') }), { succeeded: true })
  t.ok(there !== undefined, 'the look comes after the write')
  t.match(await createOn(basis, backend, { key: '/a', value: bytes('y') }), { succeeded: false, current: { key: '/a' } }, 'an existing object stays')
  holding = false
  t.match(await createOn(basis, backend, { key: '/b', value: bytes('x') }), { succeeded: false, current: undefined })
  t.equal((await backend.get('/b')).kv, undefined)
})

t.test('a compensating delete removes the object even if others changed it, and not one they created later', async t => {
  const backend = openMemory()
  const changed: Precondition = {
    ...await basisIn(openMemory(), async () => {
      const { kv } = await backend.get('/a')
      done(await backend.update('/a', bytes('changed'), kv?.modRevision ?? 0))
      return false
    })
  }
  t.match(await createOn(changed, backend, { key: '/a', value: bytes('x') }), { succeeded: false, current: undefined })
  t.equal((await backend.get('/a')).kv, undefined)
  const replaced: Precondition = {
    ...changed,
    holds: async () => {
      const { kv } = await backend.get('/b')
      done(await backend.delete('/b', kv?.modRevision ?? 0))
      done(await backend.create('/b', bytes('theirs')))
      return false
    }
  }
  t.match(await createOn(replaced, backend, { key: '/b', value: bytes('x') }), { succeeded: false, current: undefined })
  t.equal(Buffer.from((await backend.get('/b')).kv?.value ?? []).toString(), 'theirs')
})

t.test('if the precondition cannot be read the outcome is unknown', async t => {
  const backend = openMemory()
  const basis = await basisIn(openMemory(), async () => { throw new StorageError('Unavailable', 'the store of namespaces is away') })
  await t.rejects(createOn(basis, backend, { key: '/a', value: bytes('x') }), { code: 'UnknownOutcome', key: '/a' })
})

t.test('a create whose precondition changes is validated again until it holds, without mutating admission again', async t => {
  const backend = openMemory()
  let revision = done(await backend.create('/namespaces/team', bytes('0')))
  let mutated = 0
  let judged = 0
  const store = configMapStore(t, backend, {
    admission: [{
      name: 'Rests',
      handles: () => true,
      mutate: () => { mutated++ },
      validate: async () => {
        const precondition = { backend, key: '/namespaces/team', revision, holds: async () => true }
        if (++judged < 4) revision = done(await backend.update('/namespaces/team', bytes(String(judged)), revision))
        return precondition
      }
    }]
  })
  const made = await create(store, config('a'), target(''), context)
  t.equal(made.name, 'a')
  t.same([mutated, judged], [1, 4])
  t.equal(await reasonOf(create(store, config('a'), target(''), context)), 'AlreadyExists')

  judged = -1000
  const caller = { ...context.caller, signal: context.caller.signal, get isGone () { return judged > -990 } }
  t.equal(await reasonOf(create(store, config('b'), target(''), { ...context, caller })), 'Timeout', 'not longer than anybody waits')
})
