/** The stages of a change, each alone. */
import t from 'tap'
import { admit } from '../../../registry/stages/admit.js'
import { allocates, ALLOCATE_CHANGE, COMMIT, RELEASE } from '../../../registry/stages/allocate.js'
import {
  concludeChange, decideRemoval, decodeOld, FIND, isMissing, READ, recover
} from '../../../registry/stages/change.js'
import { encodeChange } from '../../../registry/stages/encode.js'
import { compareVersion } from '../../../registry/stages/expected-version.js'
import { inheritOwners, ownChange } from '../../../registry/stages/own.js'
import { inherit, prepareChange } from '../../../registry/stages/prepare-change.js'
import { Repeat } from '../../../registry/stages/run.js'
import { STORE_CHANGE } from '../../../registry/stages/store.js'
import { validateChange } from '../../../registry/stages/validate.js'
import { OtherWrite } from '../../../registry/stages/write.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { StatusError } from '../../../schemas/status.js'
import { finish } from '../../../schemas/steps.js'
import { config } from '../../storage/store.js'
import { changing, failureOf, noted } from './write.js'

/** Its entries, whatever is known of them. */
const managersOf = ({ metadata }: ApiObject) => metadata.managedFields ?? []

t.test('admit: the check runs between the two runs of admission', async t => {
  const { store, target, context } = await changing(t)
  const order: string[] = []
  const admission = {
    mutate: async () => { order.push('mutate') }, validate: async () => { order.push('validate'); return [] }
  }
  const write = new OtherWrite(
    { store: Object.assign(Object.create(store) as typeof store, { admission }), target, context }, 'CREATE',
    config('b'), 'Other'
  )
  t.equal(await admit(write, () => order.push('check')), 2)
  t.strictSame(order, ['mutate', 'check', 'validate'])
  t.equal(write.kind, 'Other')
})

t.test('read and find: the object is read from the back end without a cache, and may be missing', async t => {
  const write = await changing(t)
  await READ.run(write)
  t.equal(write.current?.revision, write.stored.revision)
  await FIND.run(write)
  t.equal(write.base, write.current)
  t.equal(write.size, write.base.json.length)
  write.current = undefined
  t.match(await failureOf(() => FIND.run(write)), { status: { reason: 'NotFound' } })
  write.mayCreate = true
  await FIND.run(write)
  t.equal(isMissing(write), true)
})

t.test('decode old: the replaced object is that of the base', async t => {
  const write = await changing(t)
  decodeOld(write)
  t.match(write.oldObject, { data: { k: 'old' } })
})

t.test('compare versions: the request may name none, the current one, or is refused', async t => {
  const write = await changing(t)
  const versionIs = async (version: string | undefined): Promise<unknown> => {
    if (version === undefined) delete write.object.metadata.resourceVersion
    else write.object.metadata.resourceVersion = version
    return await failureOf(() => compareVersion(write))
  }
  t.equal(await versionIs(undefined), undefined)
  t.equal(await versionIs(String(write.stored.revision)), undefined)
  t.match(await versionIs('1'), { status: { reason: 'Conflict' } })
  t.match(await versionIs('x'), { status: { reason: 'Invalid' } })
})

t.test('inherit: what only the server sets is that of the old object', async t => {
  const write = await changing(t)
  Object.assign(write.object.metadata, { uid: '', creationTimestamp: '2000-01-01T00:00:00Z', selfLink: '/x' })
  inherit(write)
  const { uid, creationTimestamp } = write.oldObject.metadata
  t.match(write.object.metadata, { uid, creationTimestamp, selfLink: undefined })
})

t.test('inherit owners and own: the author of a change owns it', async t => {
  const write = await changing(t, { fieldManager: 'me' })
  delete write.object.metadata.managedFields
  Object.assign(write.object, { data: { k: 'new' } })
  inheritOwners(write)
  t.strictSame(write.object.metadata.managedFields, write.oldObject.metadata.managedFields)
  finish(ownChange(write))
  t.match(managersOf(write.object).find(({ manager }) => manager === 'me'), { fieldsV1: { 'f:data': { 'f:k': {} } } })
})

t.test('prepare and validate: what may not change is refused', async t => {
  const write = await changing(t)
  prepareChange(write)
  finish(validateChange(write))
  write.object.metadata.uid = 'other'
  const refusal = await failureOf(async () => { for (const waiting of validateChange(write)) await waiting })
  t.match(refusal, { status: { details: { causes: [{ field: 'metadata.uid' }] } } })
})

t.test('allocate: only changes of an object that stays allocate; values go back with the object', async t => {
  const write = await changing(t)
  t.equal(allocates(write), false)
  const { allocation, notes } = noted()
  Object.assign(write.store, { allocation })
  t.equal(allocates(write), true)
  await ALLOCATE_CHANGE.run(write)
  await COMMIT.run(write)
  write.object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  t.equal(allocates(write), false)
  decideRemoval(write)
  t.equal(RELEASE.when?.(write), true)
  await RELEASE.run(write)
  t.strictSame(notes, ['allocate', 'commit', 'release'])
})

t.test('encode: an unchanged object is the answer, and is not stored', async t => {
  const write = await changing(t)
  finish(encodeChange(write))
  t.equal(write.result, write.stored)
  t.equal(STORE_CHANGE.when?.(write), false)
})

t.test('encode, store and conclude: a changed object is written once, a dry run is not', async t => {
  for (const dryRun of [false, true]) {
    const write = await changing(t, { dryRun })
    Object.assign(write.object, { data: { k: 'new' } })
    finish(encodeChange(write))
    t.equal(STORE_CHANGE.when?.(write), !dryRun)
    if (!dryRun) await STORE_CHANGE.run(write)
    await concludeChange(write)
    t.match(write.result?.object, { data: { k: 'new' } })
    t.equal((await write.store.backend.get(write.key)).kv?.modRevision === write.stored.revision, dryRun)
  }
})

t.test('conclude: a conflict leads back to finding the object that is there instead', async t => {
  const write = await changing(t)
  write.outcome = { succeeded: false, revision: 9, current: undefined } as never
  t.match(await failureOf(() => concludeChange(write)), new Repeat(FIND))
  t.equal(write.current, undefined)
})

t.test('conclude and recover: what a cached object leads to counts only if it was the newest', async t => {
  const write = await changing(t)
  const refusal = new StatusError('Forbidden', 'no')
  t.equal(await failureOf(() => recover(write, refusal)), refusal)
  write.isNewest = false
  t.equal(await failureOf(() => recover(write, refusal)), refusal, 'it was')
  await write.store.backend.update(write.key, write.store.entries.encode(write.object), write.stored.revision)
  write.isNewest = false
  t.match(await recover(write, refusal), new Repeat(FIND))
  t.equal(write.isNewest, true)
  write.current = write.stored
  write.isNewest = false
  t.match(await failureOf(() => concludeChange(write)), new Repeat(FIND))
})
