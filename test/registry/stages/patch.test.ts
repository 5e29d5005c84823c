/** The stages of patches, applies and other changes that make the new object from the old one, each alone. */
import t from 'tap'
import {
  apply, APPLY, ApplyWrite, copy as copyLive, identify as identifyApplied, merge, readManagers, refuseUid,
  type ApplyRequest
} from '../../../registry/verbs/apply.js'
import { change, changeBy, createMissing } from '../../../registry/verbs/change.js'
import { create } from '../../../registry/verbs/create.js'
import {
  applyPatch, copy, decodePatched, PATCH, patched, PatchWrite, type PatchRequest
} from '../../../registry/verbs/patch.js'
import { DELETE } from '../../../registry/verbs/delete.js'
import { OPERATE } from '../../../registry/verbs/operate.js'
import { identify, replace, update, UPDATE, UpdateWrite } from '../../../registry/verbs/update.js'
import { READ } from '../../../registry/stages/change.js'
import { DECODE } from '../../../registry/stages/decode.js'
import { Repeat } from '../../../registry/stages/run.js'
import type { WriteContext } from '../../../registry/write-context.js'
import { decode } from '../../../schemas/language/decode.js'
import { JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, type PatchType } from '../../../schemas/media-types.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { StatusError } from '../../../schemas/status.js'
import { finish, type Steps } from '../../../schemas/steps.js'
import { config, context, target } from '../../storage/store.js'
import { configMaps } from '../../stored.js'
import type { Test } from '../../build.js'
import { changing, creation, failureOf } from './write.js'

const MERGE_PATCH_TYPE = 'application/merge-patch+json'

const decodeConfig = (value: unknown): ApiObject => decode(configMaps.message, value).object

/** What is sent is an object whose members nobody has checked. */
const sent = (object: object): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', ...object } as unknown as ApiObject)

interface Patch { readonly type?: PatchType, readonly patch?: unknown }

const patchOf = ({ type = MERGE_PATCH_TYPE, patch = {} }: Patch): PatchRequest =>
  ({ ...patched(type, configMaps.message, patch), decode: decodeConfig })

async function patching (t: Test, given: Patch): Promise<PatchWrite> {
  const write = await changing(t)
  const made = new PatchWrite(write, patchOf(given))
  made.current = write.stored
  made.oldObject = write.oldObject
  return made
}

async function applying (
  t: Test, config: ApiObject, request: Partial<ApplyRequest> = {}, given: Partial<WriteContext> = {}
): Promise<ApplyWrite> {
  const write = await changing(t, { fieldManager: 'me', ...given })
  const made = new ApplyWrite(write, { configOf: () => config, force: false, ...request })
  made.current = write.stored
  made.oldObject = write.oldObject
  return made
}

t.test('patch: a copy of the current object is patched, and decoded', async t => {
  const write = await patching(t, { patch: { data: { n: 'new' } } })
  copy(write)
  t.match(write.patched, { data: { k: 'old' } })
  finish(applyPatch(write))
  t.throws(() => write.object, TypeError)
  decodePatched(write)
  t.match(write.object, { metadata: { name: 'a' }, data: { k: 'old', n: 'new' } })
  t.strictSame((write.oldObject as ApiObject & { data: object }).data, { k: 'old' })
})

t.test('patch: what it is not about is a copy of what the old object has', async t => {
  const write = await patching(t, { patch: { metadata: { labels: { a: 'b' } } } })
  copy(write)
  t.strictSame(Object.keys(write.patched as object).sort(), ['apiVersion', 'kind', 'metadata'], 'it alone is patched')
  finish(applyPatch(write))
  decodePatched(write)
  t.match(write.object, { metadata: { name: 'a', labels: { a: 'b' } }, data: { k: 'old' } })
  t.not((write.object as ApiObject & { data: object }).data, (write.oldObject as ApiObject & { data: object }).data)
})

t.test('patch: a directive and a JSON patch may be about everything', async t => {
  const replacing = { $patch: 'replace', metadata: { name: 'a' } }
  const operations = [{ op: 'replace', path: '', value: sent({ metadata: { name: 'a' } }) }]
  for (const [type, patch] of [[STRATEGIC_MERGE_PATCH_TYPE, replacing], [JSON_PATCH_TYPE, operations]] as const) {
    const write = await patching(t, { type, patch })
    copy(write)
    finish(applyPatch(write))
    decodePatched(write)
    t.notOk('data' in write.object, type)
  }
})

t.test('patch: each attempt begins with a copy of its own', async t => {
  const write = await patching(t, {
    type: JSON_PATCH_TYPE,
    patch: [{ op: 'test', path: '/data/k', value: 'old' }, { op: 'replace', path: '/data/k', value: 'new' }]
  })
  for (let attempt = 0; attempt < 2; attempt++) {
    copy(write)
    finish(applyPatch(write))
    decodePatched(write)
    t.match(write.object, { data: { k: 'new' } })
  }
})

t.test('patch: a patch that is none is refused before anything is read', async t => {
  for (const [type, patch] of [[MERGE_PATCH_TYPE, []], [MERGE_PATCH_TYPE, 'x'], [JSON_PATCH_TYPE, {}]] as const) {
    t.match(await failureOf(() => patchOf({ type, patch })), { status: { reason: 'BadRequest' } })
  }
})

t.test('patch: the name of the object stays that of the URL', async t => {
  const write = await patching(t, { patch: { metadata: { name: 'b' } } })
  copy(write)
  finish(applyPatch(write))
  decodePatched(write)
  const stage = PATCH.find(({ name }) => name === 'identify')
  t.match(await failureOf(() => stage?.run(write)), {
    status: { reason: 'BadRequest', message: /does not match the name on the URL/ }
  })
})

t.test('decode: what a client sent is decoded first, by a patch, an apply and a change alike', async t => {
  for (const [first] of [PATCH, APPLY, UPDATE, DELETE, OPERATE]) t.equal(first, DECODE)
  const { store, context, target } = await changing(t)
  const write = new PatchWrite({ store, target, context }, function * () {
    yield
    return patchOf({ patch: { data: { n: 'new' } } })
  })
  t.throws(() => write.given.value, TypeError)
  t.equal(DECODE.when?.(write), true)
  finish(DECODE.run(write) as Steps<void>)
  t.equal(write.given.value.decode, decodeConfig)
  t.equal(DECODE.when?.(new PatchWrite(write, patchOf({}))), false, 'the server itself sends nothing')
  t.match(
    await changeBy(
      store, function * () { return { make: base => Object.assign(base.copy(), { data: { k: 'sent' } }) } }, target,
      context
    ),
    { object: { data: { k: 'sent' } } }
  )
})

t.test('replace: the object is a copy of what was sent, and its uid a precondition', async t => {
  const { store, stored, context, target, oldObject } = await changing(t)
  const write = new UpdateWrite({ store, target, context }, config('a', { k: 'new' }))
  identify(write)
  write.current = stored
  write.oldObject = oldObject
  replace(write)
  t.match(write.object, { data: { k: 'new' } })
  t.not(write.object, write.replacement)
  write.replacement.metadata.uid = 'other'
  t.match(await failureOf(() => { replace(write) }), {
    status: { reason: 'Conflict', message: /UID in precondition: other/ }
  })
  write.current = undefined
  t.match(await failureOf(() => { replace(write) }), {
    status: { reason: 'Conflict', message: /UID in object meta: $/ }
  })
})

t.test('identify: only some types are created by an update, and never through a subresource', async t => {
  const { store, context } = await changing(t)
  const mayCreate = (given: object, subresource = ''): boolean => {
    const write = new UpdateWrite({ store, target: { ...target('a'), subresource }, context }, sent(given))
    identify(write)
    return write.mayCreate
  }
  const createOnUpdate = store.representation.createOnUpdate
  t.equal(mayCreate({ metadata: { name: 'a' } }), createOnUpdate)
  t.equal(mayCreate({ metadata: { name: 'a' } }, 'status'), false)
  t.equal(mayCreate({ metadata: { name: 'a', uid: 'u' } }, 'status'), true, 'so that its uid is a conflict')
  t.throws(() => mayCreate({ metadata: { name: 'b' } }), /does not match the name on the URL/)
})

t.test('create: a missing object is created, which ends the write; one that appeared is read', async t => {
  const { store, context, target } = await changing(t)
  const asked: string[] = []
  const stage = createMissing<UpdateWrite>()
  const written = async (name: string): Promise<[UpdateWrite, unknown]> => {
    const given = { ...context, mayCreate: async () => { asked.push(name) } }
    const write = new UpdateWrite({ store, target: { ...target, name }, context: given }, config(name))
    t.equal(stage.when?.(write), true)
    return [write, await failureOf(() => stage.run(write))]
  }
  const [write] = await written('b')
  t.equal(write.isDone, true)
  t.equal(write.answer.name, 'b')
  const [, appeared] = await written('a')
  t.match(appeared, new Repeat(READ))
  t.strictSame(asked, ['b', 'a'])
})

t.test('create: an object that appears and disappears all the time is a conflict at last', async t => {
  const write = await changing(t)
  const stage = createMissing<UpdateWrite>()
  const given = new UpdateWrite(write, config('a'))
  let repeats = 0
  let failure: unknown
  do failure = await failureOf(() => stage.run(given)); while (failure instanceof Repeat && ++repeats < 100)
  t.equal(repeats, 20)
  t.match(failure, { status: { reason: 'Conflict' } })
})

t.test('apply: the configuration is merged into the current object, and owned', async t => {
  const write = await applying(t, sent({ metadata: { name: 'a' }, data: { n: 'new' } }))
  copyLive(write)
  t.match(write.live, { data: { k: 'old' } })
  finish(readManagers(write))
  finish(merge(write))
  t.match(write.object, { data: { k: 'old', n: 'new' } })
  t.match(write.managers.find(({ manager }) => manager === 'me'), {
    operation: 'Apply', fields: { 'f:data': { 'f:n': {} } }
  })
})

t.test('apply: fields of others are a conflict, unless it is forced', async t => {
  for (const force of [false, true]) {
    const write = await applying(t, sent({ metadata: { name: 'a' }, data: { k: 'new' } }), { force })
    copyLive(write)
    finish(readManagers(write))
    const failure = await failureOf(() => finish(merge(write)))
    if (force) t.match(write.object, { data: { k: 'new' } })
    else t.match(failure, { status: { reason: 'Conflict', details: { causes: [{ field: '.data.k' }] } } })
  }
})

t.test('apply: an object without managers belongs to before-first-apply', async t => {
  const write = await applying(t, sent({ metadata: { name: 'a' } }))
  copyLive(write)
  delete write.live.metadata?.managedFields
  finish(readManagers(write))
  t.match(write.managers, [{ manager: 'before-first-apply', operation: 'Update', fields: { 'f:data': { 'f:k': {} } } }])
})

t.test('apply: kubectl keeps what it applied last', async t => {
  const applied = sent({ metadata: { name: 'a' }, data: { k: 'kept' } })
  const write = await applying(t, applied, { sent: applied }, { fieldManager: 'kubectl' })
  write.object = config('a')
  write.object.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'before' }
  identifyApplied(write)
  t.match(write.object.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'], /kept/)
  write.object.metadata.name = 'b'
  t.throws(() => { identifyApplied(write) }, /does not match the name on the URL/)
})

t.test('apply: a missing object is made of the configuration alone, unless it names a uid', async t => {
  const write = await applying(t, sent({ metadata: { name: 'a' }, data: { n: 'new' } }))
  write.current = undefined
  copyLive(write)
  t.strictSame(write.live, {})
  finish(readManagers(write))
  t.strictSame(write.managers, [])
  finish(merge(write))
  t.match(write.object, { data: { n: 'new', k: undefined } })
  const stage = APPLY.find(({ name }) => name === 'refuse uid')
  t.equal(stage?.when?.(write), true)
  refuseUid(write)
  write.object.metadata.uid = 'u'
  t.match(await failureOf(() => { refuseUid(write) }), { status: { reason: 'Conflict', message: /uid mismatch/ } })
})

t.test('an update and an apply create what is missing, through one order', async t => {
  const { store } = creation(t)
  const given = { ...context, fieldManager: 'me' }
  t.match(
    await apply(
      store, { configOf: () => sent({ metadata: { name: 'a' }, data: { k: 'v' } }), force: false }, target('a'), given
    ),
    { created: true, entry: { name: 'a' } }
  )
  t.match(
    await apply(
      store, { configOf: () => sent({ metadata: { name: 'a' }, data: { k: 'w' } }), force: false }, target('a'), given
    ),
    { created: false, entry: { object: { data: { k: 'w' } } } }
  )
  t.match(
    await failureOf(() => apply(
      store, { configOf: () => sent({ metadata: { name: 'b' } }), force: false },
      { ...target('b'), subresource: 'status' }, given
    )),
    { status: { reason: 'NotFound' } }
  )
  t.match(await update(store, config('a', { k: 'x' }), target('a'), given), {
    created: false, entry: { object: { data: { k: 'x' } } }
  })
})

t.test('an update whose missing object another client creates meanwhile changes that one', async t => {
  const { store } = creation(t)
  let others = 0
  const mayCreate = async (): Promise<void> => {
    if (others++ === 0) await create(store, config('a', { k: 'theirs' }), target(''), context)
  }
  const configOf = (): ApiObject => sent({ metadata: { name: 'a' }, data: { n: 'mine' } })
  const written = await apply(
    store, { configOf, force: false }, target('a'), { ...context, mayCreate, fieldManager: 'me' }
  )
  t.match(written, { created: false, entry: { object: { data: { k: 'theirs', n: 'mine' } } } })
  t.equal(others, 1)
})

t.test('make: what the server changes itself may be refused, or take steps', async t => {
  const { store } = await changing(t)
  const made = await change(store, target('a'), context, function * (base) {
    yield
    return Object.assign(base.copy(), { data: { k: 'made' } })
  })
  t.match(made.object, { data: { k: 'made' } })
  const refusal = new StatusError('Forbidden', 'no')
  t.equal(await failureOf(() => change(store, target('a'), context, () => { throw refusal })), refusal)
  t.match(await failureOf(() => change(store, target('b'), context, base => base.copy())), {
    status: { reason: 'NotFound' }
  })
})
