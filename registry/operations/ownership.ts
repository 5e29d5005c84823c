/**
 * Who owns which fields of an object, kept up in its managedFields by every write: the library of `registry/apply/` given what
 * a store and a request know. Objects that have no owners, because they are older than this or somebody wanted them to have none, get
 * some with the first apply.
 */
import { applyDefaults, decode, UNBOUNDED } from '../../schemas/index.js'
import type { ApiObject, FieldError, Representation, Subresource } from '../../schemas/index.js'
import { validateManagedFields } from '../../schemas/meta/metadata.js'
import { fieldElement } from '../apply/elements.js'
import { EMPTY, setOf } from '../apply/field-set.js'
import type { FieldSet } from '../apply/field-set.js'
import { entriesOf, isReset, stored, submitted } from '../apply/managers.js'
import type { Manager, Operation, Who } from '../apply/managers.js'
import { reconciled } from '../apply/reconcile.js'
import { isIdentical, shapesOf } from '../apply/shape.js'
import type { Shape } from '../apply/shape.js'
import { update } from '../apply/update.js'
import type { Versions } from '../apply/versions.js'
import type { ResourceStore } from '../resource-store.js'
import { finish } from '../../schemas/steps.js'
import type { Steps } from '../../schemas/steps.js'
import { now, refuse } from './context.js'
import type { WriteContext } from './context.js'

/** Who writes for the server itself. */
const SERVER = 'orch-apiserver'

export function whoWrites (store: ResourceStore, { fieldManager }: WriteContext, operation: Operation, subresource = ''): Who {
  return { manager: fieldManager ?? SERVER, operation, apiVersion: store.representation.apiVersion, subresource }
}

/** The versions of a store's type. Objects are converted as they are, or, `raw`, decoded before. */
export function versionsOf ({ type }: ResourceStore, raw: boolean): Versions {
  const find = (apiVersion: string) => type.representations.find(one => one.apiVersion === apiVersion)
  return {
    shapes: apiVersion => {
      const found = find(apiVersion)
      return found === undefined ? undefined : shapesOf(found.message)
    },
    convert: (object, from, to) => {
      const [there, here] = [find(from), find(to)]
      if (there === undefined || here === undefined) throw new TypeError(`${type.plural} have no version ${there === undefined ? from : to}`)
      const typed = raw ? decode(there.message, object, UNBOUNDED).object : object as ApiObject // an object of the type
      const inStore = there.conversion?.toStored(typed) ?? typed
      if (raw) applyDefaults(type.stored.message, inStore)
      return here.conversion?.fromStored(inStore) ?? inStore
    }
  }
}

const kept = new WeakMap<Representation, Map<string, FieldSet>>()

/** Fields of the object that a write does not change, because they belong to subresources, or to the object. */
export function fieldsKept ({ stored }: ResourceStore, subresource: string): FieldSet {
  let known = kept.get(stored)
  if (known === undefined) kept.set(stored, known = new Map())
  let fields = known.get(subresource)
  if (fields === undefined) known.set(subresource, fields = setOf(keptBy(stored, subresource).map(path => path.split('.').map(fieldElement))))
  return fields
}

function keptBy ({ subresources, kind, message }: Representation, subresource: string): string[] {
  if (subresource === '') return subresources.filter(one => (one.kind ?? kind) === kind).flatMap(changesOf)
  const named = subresources.find(({ name }) => name === subresource)
  const changes = changesOf(named)
  const metadata = (named?.keepsMetadata ?? []).map(member => `metadata.${member}`)
  return changes.length === 0 ? metadata : [...metadata, ...others(shapesOf(message).owned, '', changes)]
}

/** Paths beside those that are changed, but for metadata. */
function others (shape: Shape, at: string, changes: readonly string[]): string[] {
  return shape.fields.flatMap(field => {
    const path = `${at}${field.name}`
    if (path === 'metadata' || changes.includes(path)) return []
    return changes.some(change => change.startsWith(`${path}.`)) ? others(field, `${path}.`, changes) : [path]
  })
}

const changesOf = (subresource: Subresource | undefined): readonly string[] => subresource?.changes ?? []
/** Of a new object its status alone is no word of who makes it. */
const STATUS: FieldSet = { 'f:status': EMPTY }
const notOfCreator = (store: ResourceStore): FieldSet => store.stored.subresources.some(({ name }) => name === 'status') ? STATUS : EMPTY

type Entries = ApiObject['metadata']['managedFields']

/** The entries of what is stored. Types that are defined at run time may be declared otherwise by now. */
export function ownersIn (store: ResourceStore, entries: Entries): readonly Manager[] {
  const managers = stored(entries)
  return store.stored.protobuf ? managers : managers.map(manager => reconciled(manager, versionsOf(store, false)))
}

/** Entries of a new object, in steps: whatever was sent, nobody has owned anything of it before. @throws StatusError 422 for entries that are none */
export function * trackCreation (store: ResourceStore, object: ApiObject, context: WriteContext): Steps<void> {
  const { metadata } = object
  if (metadata.managedFields !== undefined) read(store, object)
  delete metadata.managedFields
  setOwners(object, yield * tracked(store, {}, object, [], whoWrites(store, context, 'Update'), notOfCreator(store)))
}

/** Entries of a new object that has been changed on its way, in the name of whoever makes it. */
export function trackAddition (store: ResourceStore, entries: Entries, before: ApiObject, after: ApiObject, context: WriteContext): Entries {
  return entriesOf(finish(tracked(store, before, after, stored(entries), whoWrites(store, context, 'Update'), notOfCreator(store))))
}

/** The entries that count for a change: those that were sent with it, or else those that are there. Subresources cannot send any. */
export function inheritOwners ({ metadata }: ApiObject, { metadata: { managedFields: before } }: ApiObject, subresource: string): void {
  const { managedFields: sent } = metadata
  if (sent !== undefined && subresource === '') {
    if (isReset(sent)) metadata.managedFields = []
  } else if (before !== undefined) metadata.managedFields = before
  else delete metadata.managedFields
}

/** Entries of an object that has been changed, in steps. @throws StatusError 422 for those that were sent and are none */
export function * trackChange (store: ResourceStore, object: ApiObject, old: ApiObject, context: WriteContext, subresource: string): Steps<void> {
  const sent = object.metadata.managedFields ?? []
  const { managedFields: before } = old.metadata
  const same = isIdentical(sent, before)
  const told = same || sent.length === 0 ? undefined : read(store, object)
  const managers = told ?? (sent.length === 0 ? [] : ownersIn(store, before))
  // Entries that own nothing say all the same that owners are wanted.
  if (managers.length === 0 && told === undefined) {
    delete object.metadata.managedFields
    return
  }
  yield
  const owners = yield * tracked(store, old, object, managers, whoWrites(store, context, 'Update', subresource), fieldsKept(store, subresource))
  if (same && owners === managers && before !== undefined) object.metadata.managedFields = before
  else setOwners(object, owners)
}

function * tracked (store: ResourceStore, before: object, after: object, managers: readonly Manager[], who: Who, ignored: FieldSet): Steps<readonly Manager[]> {
  const versions = versionsOf(store, false)
  const spoken = (object: object): object => store.representation === store.stored || Object.keys(object).length === 0 ? object : versions.convert(object, store.stored.apiVersion, who.apiVersion)
  return yield * update({ versions, before: spoken(before), after: spoken(after), managers, who, now, ignored })
}

export function setOwners ({ metadata }: ApiObject, owners: readonly Manager[]): void {
  const entries = entriesOf(owners)
  if (entries === undefined) delete metadata.managedFields
  else metadata.managedFields = entries
}

/** Undefined for entries that say nothing. */
function read (store: ResourceStore, object: ApiObject): Manager[] | undefined {
  const { managedFields = [] } = object.metadata
  if (isReset(managedFields)) return undefined
  const findings: FieldError[] = []
  validateManagedFields(object.metadata, finding => { findings.push(finding) })
  const managers = submitted(managedFields, ({ index, detail }) => {
    findings.push({ type: 'FieldValueInvalid', field: `metadata.managedFields[${index}].fieldsV1`, detail })
  })
  refuse(store, object, findings)
  return managers
}
