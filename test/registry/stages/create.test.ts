/** The stages of a creation, each alone. */
import t from 'tap'
import { MutatingPass } from '../../../admission/mutating-pass.js'
import { ADMIT_AGAIN, ADMIT_NEW } from '../../../registry/stages/admit.js'
import { ALLOCATE_NEW, COMMIT } from '../../../registry/stages/allocate.js'
import { DECODING, dropUnknown } from '../../../registry/stages/decode.js'
import { encodeNew } from '../../../registry/stages/encode.js'
import { identify, identifyAgain } from '../../../registry/stages/identity.js'
import { measure } from '../../../registry/stages/object-limits.js'
import { ownAdmitted, ownNew } from '../../../registry/stages/own.js'
import { checkNames, defaultAgain, NAME, prepareNew } from '../../../registry/stages/prepare.js'
import { Repeat } from '../../../registry/stages/run.js'
import { concludeNew, STORE_NEW } from '../../../registry/stages/store-new.js'
import { validateNew } from '../../../registry/stages/validate.js'
import { CreateWrite } from '../../../registry/stages/writes.js'
import { REFUSE_WHILE_CLOSING } from '../../../registry/verbs/create.js'
import { finish, type Steps } from '../../../schemas/steps.js'
import { decodeProtobuf } from '../../../schemas/codec/protobuf/decode.js'
import { config, target } from '../../storage/store.js'
import { configMaps } from '../../stored.js'
import { creation, failureOf, noted } from './write.js'

t.test('decode: only what a client sent is decoded, and its defaults are set', async t => {
  const [decode, converted] = DECODING
  t.equal(decode?.when?.(creation(t)), false)
  const write = creation(t, function * () { return config('sent') })
  t.throws(() => write.object, /reads the object of a write before another has made it/)
  t.equal(converted?.when?.(write), true)
  finish(decode?.run(write) as Steps<void>)
  finish(converted?.run(write) as Steps<void>)
  t.equal(write.object.metadata.name, 'sent')
})

t.test('identify: the namespace is that of the URL, and a new object has no version', async t => {
  const write = creation(t)
  delete write.object.metadata.namespace
  identify(write)
  t.equal(write.object.metadata.namespace, 'default')
  t.throws(
    () => { identify(creation(t, { ...config('a'), metadata: { name: 'a', resourceVersion: '1' } })) },
    /resourceVersion should not be set/
  )
  t.throws(
    () => { identify(creation(t, { ...config('a'), metadata: { name: 'a', namespace: 'other' } })) },
    /does not match the namespace/
  )
})

t.test('measure: only bodies that may have grown are measured', async t => {
  const large = config('a', Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, 'v'])))
  for (const [size, mayGrow, grows] of [[100, false, false], [100, true, true], [5000, false, true]] as const) {
    const write = creation(t, large, { size, mayGrow })
    measure(write)
    t.equal(write.size > size, grows, `${size}`)
  }
})

t.test('drop what is unknown: what the release does not have is told, if anything was dropped', async t => {
  const told: Array<readonly string[]> = []
  const write = creation(t, config('a'), { unknown: paths => { told.push(paths) } })
  dropUnknown(write)
  t.strictSame(told, [])
  Object.assign(write.store, { strategy: { ...write.store.strategy, dropUnknown: () => ['data.later'] } })
  dropUnknown(write)
  t.strictSame(told, [['data.later']])
})

t.test('refuse while closing: nothing is created of a type whose definition is going', async t => {
  const write = creation(t)
  t.equal(REFUSE_WHILE_CLOSING.when?.(write), false)
  Object.assign(write.store, { representation: { ...write.store.representation, closing: true } })
  t.equal(REFUSE_WHILE_CLOSING.when?.(write), true)
  const failure = await failureOf(() => REFUSE_WHILE_CLOSING.run(write))
  t.match(failure, { status: { reason: 'Forbidden', details: { name: 'a' } } })
})

t.test('allocate: what is allocated is taken back by the stage that did it, or committed', async t => {
  const write = creation(t)
  t.equal(ALLOCATE_NEW.when?.(write), false)
  const { allocation, notes } = noted()
  Object.assign(write.store, { allocation })
  t.equal(ALLOCATE_NEW.when?.(write), true)
  await ALLOCATE_NEW.run(write)
  t.equal(COMMIT.when?.(write), true)
  await COMMIT.run(write)
  const [{ of, revert } = {}] = write.undo
  t.equal(of, ALLOCATE_NEW)
  await revert?.()
  t.strictSame(notes, ['allocate', 'commit', 'revert'])
  t.equal(COMMIT.when?.(write), false)
})

t.test('own: the creator owns what it sent, an apply has its own managers', async t => {
  const write = creation(t, config('a', { k: 'v' }), { fieldManager: 'me' })
  finish(ownNew(write))
  t.match(write.managedFields, [{ manager: 'me', operation: 'Update', fieldsV1: { 'f:data': { 'f:k': {} } } }])
  const applied = new CreateWrite(creation(t), config('a'), [])
  finish(ownNew(applied))
  t.equal(applied.managedFields, undefined)
})

t.test('admit: what foreign code changes is noted, except where the managers are those of an apply', async t => {
  const write = creation(t, config('a', { k: 'v' }))
  const changes = [{ before: {}, after: { data: {} } }]
  const mutate = async (_request: object, tracksForeign?: boolean) => tracksForeign === true ? changes : []
  Object.assign(write.store, { admission: { mutate } })
  await ADMIT_NEW.run(write)
  t.equal(write.foreignChanges, changes)
  const applied = new CreateWrite(write, config('a'), [])
  await ADMIT_NEW.run(applied)
  t.strictSame(applied.foreignChanges, [])
  t.equal(new MutatingPass(false).beforeForeign({}), undefined)
})

t.test('own: what foreign code changes during admission belongs to the creator too', async t => {
  const write = creation(t, config('a', { k: 'v' }), { fieldManager: 'me' })
  finish(ownNew(write))
  const pass = new MutatingPass(true)
  const plain = pass.beforeForeign(write.admitted.object)
  plain?.()
  t.strictSame(pass.foreignChanges, [], 'code that changes nothing owns nothing')
  Object.assign(write.object, { data: { k: 'v', ours: 'x' } })
  const done = pass.beforeForeign(write.admitted.object)
  Object.assign(write.object, { data: { k: 'v', ours: 'x', hooked: 'x' } })
  done?.()
  write.foreignChanges = pass.foreignChanges
  write.object.metadata.managedFields = []
  finish(ownAdmitted(write))
  t.match(write.object.metadata.managedFields, [
    { manager: 'me', fieldsV1: { 'f:data': { 'f:k': {}, 'f:hooked': {} } } }
  ])
})

t.test('default again: owner references that admission repeats are merged with a warning', async t => {
  const warnings: string[] = []
  const signal = new AbortController().signal
  const write = creation(t, config('a'), { caller: { signal, warn: text => { warnings.push(text) } } })
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
  write.object.metadata.ownerReferences = [owner, { ...owner }]
  defaultAgain(write)
  t.equal(write.object.metadata.ownerReferences.length, 1)
  t.match(warnings, [/duplicate entries after mutating admission/])
})

t.test('identify again: the server sets the uid and the time, and admission cannot rename', async t => {
  const write = creation(t)
  write.object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  identifyAgain(write)
  t.match(write.object.metadata, { uid: /^[0-9a-f-]{36}$/, creationTimestamp: /Z$/, deletionTimestamp: undefined })
  t.equal(NAME.when?.(write), false)
  const named = Object.assign(creation(t), { target: target('b') })
  t.throws(() => { identifyAgain(named) }, /does not match the name on the URL/)
})

t.test('name: each attempt generates another name, which admission sees', async t => {
  const write = creation(t, { ...config('a'), metadata: { generateName: 'a-' } })
  identifyAgain(write)
  t.equal(NAME.when?.(write), true)
  await NAME.run(write)
  const { name } = write
  t.match(name, /^a-[a-z0-9]{5}$/)
  t.equal(write.object.metadata.name, name)
  t.equal(NAME.when?.(write), true)
  await NAME.run(write)
  t.not(write.name, name)
})

t.test('check names, prepare and validate: names without effect are refused with those of the object', async t => {
  const finding = { type: 'FieldValueInvalid' as const, field: 'data', value: 'x', detail: 'as sent' }
  const write = creation(t, config('A'), { misnamed: () => [finding] })
  checkNames(write)
  prepareNew(write)
  const causes = [{ field: 'metadata.name' }, { field: 'data' }]
  t.match(await failureOf(() => finish(validateNew(write))), { status: { details: { causes } } })
  const valid = creation(t)
  prepareNew(valid)
  finish(validateNew(valid))
})

t.test('encode: the stored value has no version, and the entry any', async t => {
  const write = creation(t, config('a', { k: 'v' }))
  finish(encodeNew(write))
  t.equal(write.key, '/registry/configmaps/default/a')
  t.match(decodeProtobuf(configMaps.message, write.encoded?.value as Uint8Array).object, { data: { k: 'v' } })
  t.match(write.encoded?.entry(7).object, { metadata: { resourceVersion: '7' } })
  t.equal(write.encoded?.entry(7), write.encoded?.entry(7), 'made once')
  t.throws(() => finish(encodeNew(creation(t, config('a'.repeat(5000))))), /longer than the store can hold/)
})

t.test('store and conclude: the answer is what was written', async t => {
  const write = creation(t)
  finish(encodeNew(write))
  await STORE_NEW.run(write)
  await concludeNew(write)
  t.equal(write.result?.revision, write.outcome?.revision)
  t.equal((await write.store.backend.get(write.key)).kv?.modRevision, write.result?.revision)
  t.equal(STORE_NEW.when?.(creation(t, config('b'), { dryRun: true })), false)
})

t.test('conclude: a taken name is refused, or generated again; a changed precondition is admitted again', async t => {
  const write = creation(t)
  write.key = '/registry/configmaps/default/a'
  write.outcome = {
    succeeded: false,
    revision: 2,
    current: { key: write.key, value: new Uint8Array(), createRevision: 1, modRevision: 1 }
  } as never
  t.match(await failureOf(() => concludeNew(write)), { status: { reason: 'AlreadyExists' } })
  write.generatedName = 'a-bcdfg'
  t.match(await failureOf(() => concludeNew(write)), new Repeat(NAME))
  write.attempt = 8
  t.match(await failureOf(() => concludeNew(write)), { status: { code: 409 } })
  write.outcome = { succeeded: false, revision: 2, current: undefined } as never
  write.preconditions = [{}] as never
  t.match(await failureOf(() => concludeNew(write)), new Repeat(ADMIT_AGAIN))
})
