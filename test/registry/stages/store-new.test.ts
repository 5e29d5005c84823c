import t from 'tap'
import type { Precondition } from '../../../registry/admission.js'
import type { Backend } from '../../../storage/backend.js'
import { StatusError } from '../../../schemas/status.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { StorageError } from '../../../storage/errors.js'
import { timed } from '../../../storage/observer.js'
import { create } from '../../../registry/verbs/create.js'
import { done } from '../../contracts/backend.js'
import type { Test } from '../../build.js'
import { config, configMapStore, context, target } from '../../storage/store.js'

const bytes = (text: string) => Buffer.from(text)

const reasonOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(() => undefined, (error: unknown) => error instanceof StatusError ? error.status.reason : String(error))

async function basisIn (backend: Backend, holds: () => Promise<boolean>): Promise<Precondition> {
  return {
    backend, key: '/namespaces/team', revision: done(await backend.create('/namespaces/team', bytes('active'))), holds
  }
}

/** Creates an object, which is admitted as long as the precondition stands. */
function creating (t: Test, basis: Precondition, backend: Backend) {
  let judged = 0
  const validate = async (): Promise<Precondition> => {
    if (judged++ > 0) throw new StatusError('Forbidden', 'what it rests on has changed')
    return basis
  }
  const store = configMapStore(t, backend, {
    admission: [{ name: 'Rests', handles: () => true, mutate: () => {}, validate }]
  })
  const key = store.keys.of('default', 'a')
  return {
    key, stored: async () => (await backend.get(key)).kv, judged: () => judged,
    create: async () => { await create(store, config('a'), target(''), context) }
  }
}

t.test('the precondition of a create is compared in the write, if one store has both', async t => {
  for (const isChanged of [false, true]) {
    const backend = openMemory()
    const basis = await basisIn(backend, async () => t.fail('the precondition was read again'))
    const creation = creating(t, basis, backend)
    if (isChanged) done(await backend.update(basis.key, bytes('going'), basis.revision))
    t.equal(await reasonOf(creation.create()), isChanged ? 'Forbidden' : undefined)
    t.equal(await creation.stored() === undefined, isChanged)
  }
})

t.test('stores that time their requests apart are one where they are', async t => {
  const backend = openMemory()
  const asked: string[] = []
  const [one, other] = ['one', 'other'].map(name =>
    timed(backend, operation => { asked.push(`${operation} ${name}`) })) as [Backend, Backend]
  const basis = { ...await basisIn(backend, async () => t.fail('the precondition was read again')), backend: one }
  await creating(t, basis, other).create()
  t.same(asked, ['create other'])
})

t.test(
  'in a store of its own it is looked at again when the key is there, and the key taken back where it has changed',
  async t => {
    for (const holds of [true, false]) {
      let there: unknown
      const basis = await basisIn(openMemory(), async () => {
        there = await creation.stored()
        return holds
      })
      const creation = creating(t, basis, openMemory())
      t.equal(await reasonOf(creation.create()), holds ? undefined : 'Forbidden')
      t.ok(there !== undefined, 'the look comes after the write')
      t.equal(await creation.stored() === undefined, !holds)
    }
    const backend = openMemory()
    const creation = creating(t, await basisIn(openMemory(), async () => t.fail('nothing was created')), backend)
    done(await backend.create(creation.key, bytes('theirs')))
    t.equal(await reasonOf(creation.create()), 'AlreadyExists')
    t.ok(await creation.stored(), 'an existing object stays')
  }
)

t.test('what is taken back goes even if others changed it, but not what they created later', async t => {
  for (const isReplaced of [false, true]) {
    const backend = openMemory()
    const basis = await basisIn(openMemory(), async () => {
      const { modRevision = 0 } = await creation.stored() ?? {}
      if (isReplaced) {
        done(await backend.delete(creation.key, modRevision))
        done(await backend.create(creation.key, bytes('theirs')))
      } else done(await backend.update(creation.key, bytes('changed'), modRevision))
      return false
    })
    const creation = creating(t, basis, backend)
    t.equal(await reasonOf(creation.create()), 'Forbidden')
    t.equal(Buffer.from((await creation.stored())?.value ?? []).toString(), isReplaced ? 'theirs' : '')
  }
})

t.test('if the precondition cannot be read, or the object not be taken back, the outcome is unknown', async t => {
  const away = new StorageError('Unavailable', 'the store is away')
  const unread = creating(t, await basisIn(openMemory(), async () => { throw away }), openMemory())
  await t.rejects(unread.create(), { code: 'UnknownOutcome', key: unread.key })
  t.equal(unread.judged(), 1)
  const backend = Object.assign(openMemory(), { delete: async () => { throw away } })
  const kept = creating(t, await basisIn(openMemory(), async () => false), backend)
  await t.rejects(kept.create(), { code: 'UnknownOutcome', key: kept.key })
  t.ok(await kept.stored())
})

for (const changed of ['first', 'second', undefined]) {
  for (const isApart of [false, true]) {
    const where = isApart ? 'two stores' : 'one store'
    t.test(`of two preconditions in ${where} ${changed ?? 'none'} changes`, async t => {
      const backend = openMemory()
      const bases = ['first', 'second'].map(async (name, index) => {
        const of = isApart && index === 0 ? openMemory() : backend
        const key = `/bases/${name}`
        const revision = done(await of.create(key, bytes('1')))
        if (name === changed) done(await of.update(key, bytes('2'), revision))
        return { backend: of, key, revision, holds: async () => (await of.get(key)).kv?.modRevision === revision }
      })
      let judged = 0
      const store = configMapStore(t, backend, {
        admission: (await Promise.all(bases)).map((basis, index) => ({
          name: `Rests${index}`,
          handles: () => true,
          validate: async () => {
            if (judged++ > 1) throw new StatusError('Forbidden', 'what it rests on has changed')
            return basis
          }
        }))
      })
      const answer = await reasonOf(create(store, config('a'), target(''), context))
      t.equal(answer, changed === undefined ? undefined : 'Forbidden')
      const { kv } = await backend.get(store.keys.of('default', 'a'))
      t.equal(kv === undefined, changed !== undefined)
    })
  }
}

t.test(
  'a create whose precondition changes is validated again until it holds, without mutating admission again',
  async t => {
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
    t.equal(
      await reasonOf(create(store, config('b'), target(''), { ...context, caller })), 'Timeout',
      'not longer than anybody waits'
    )
  }
)
