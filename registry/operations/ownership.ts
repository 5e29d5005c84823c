/**
 * Maintains managedFields on every write: connects `registry/apply/` to stores and requests. Objects without managers, because they are older or a client
 * reset them, get some with the first apply.
 */
import { type Subresource, type Representation, type ApiObject, type FieldError } from '../../schemas/index.js'
import { validateManagedFields } from '../../schemas/meta/metadata.js'
import { fieldElement } from '../apply/elements.js'
import { setOf, EMPTY, type FieldSet } from '../apply/field-set.js'
import { stored, entriesOf, submitted, isReset, type Manager, type ManagedFieldsOperation, type ManagerIdentity } from '../apply/managers.js'
import { reconciled } from '../apply/reconcile.js'
import { isIdentical, shapesOf, type Shape } from '../apply/shape.js'
import { update } from '../apply/update.js'
import { convertOne, type Versions } from '../apply/versions.js'
import type { ResourceStore } from '../resource-store.js'
import { finish, type WaitingSteps } from '../../schemas/steps.js'
import { now, refuse, type WriteContext } from './context.js'
import { versionsOf } from './versions-of.js'

/** The manager of the server's own writes. */
const SERVER = 'orch-apiserver'

export function managerIdentity (store: ResourceStore, { fieldManager }: WriteContext, operation: ManagedFieldsOperation, subresource = ''): ManagerIdentity {
  return { manager: fieldManager ?? SERVER, operation, apiVersion: store.representation.apiVersion, subresource }
}

const keptFieldsCache = new WeakMap<Representation, Map<string, FieldSet>>()

/** Fields that this write cannot change: those of subresources or, for a subresource, those of the object. */
export function fieldsKept ({ representation }: ResourceStore, subresource: string): FieldSet {
  let known = keptFieldsCache.get(representation)
  if (known === undefined) keptFieldsCache.set(representation, known = new Map())
  let fields = known.get(subresource)
  if (fields === undefined) known.set(subresource, fields = setOf(keptBy(representation, subresource).map(path => path.split('.').map(fieldElement))))
  return fields
}

function keptBy ({ subresources, kind, message }: Representation, subresource: string): string[] {
  if (subresource === '') return subresources.filter(one => (one.kind ?? kind) === kind).flatMap(changesOf)
  const named = subresources.find(({ name }) => name === subresource)
  const changes = changesOf(named)
  const metadata = (named?.keepsMetadata ?? []).map(member => `metadata.${member}`)
  return changes.length === 0 ? metadata : [...metadata, ...others(shapesOf(message).owned, '', changes)]
}

/** Paths besides the changed ones, metadata excluded. */
function others (shape: Shape, at: string, changes: readonly string[]): string[] {
  return shape.fields.flatMap(field => {
    const path = `${at}${field.name}`
    if (path === 'metadata' || changes.includes(path)) return []
    return changes.some(change => change.startsWith(`${path}.`)) ? others(field, `${path}.`, changes) : [path]
  })
}

const changesOf = (subresource: Subresource | undefined): readonly string[] => subresource?.changes ?? []
/** A creator does not own the status of its object. */
const STATUS: FieldSet = { 'f:status': EMPTY }
const ignoredOnCreate = (store: ResourceStore): FieldSet => store.representation.subresources.some(({ name }) => name === 'status') ? STATUS : EMPTY

type Entries = ApiObject['metadata']['managedFields']

/** Reads stored entries. Schemas of custom types may have changed since. */
export function ownersIn (store: ResourceStore, entries: Entries): readonly Manager[] {
  const managers = stored(entries)
  return store.stored.protobuf ? managers : managers.map(manager => reconciled(manager, versionsOf(store, false)))
}

/** Sets the entries of a new object, in steps; entries that the client sent are validated but ignored. @throws StatusError 422 for malformed entries */
export function * trackCreation (store: ResourceStore, object: ApiObject, context: WriteContext): WaitingSteps<void> {
  const { metadata } = object
  if (metadata.managedFields !== undefined) read(store, object)
  delete metadata.managedFields
  setOwners(object, yield * tracked(store, {}, object, [], managerIdentity(store, context, 'Update'), ignoredOnCreate(store)))
}

/** Adds the creator as owner of changes made to a new object during admission. */
export function trackAddition (store: ResourceStore, entries: Entries, before: ApiObject, after: ApiObject, context: WriteContext): Entries {
  return entriesOf(finish(tracked(store, before, after, stored(entries), managerIdentity(store, context, 'Update'), ignoredOnCreate(store))))
}

/** Chooses the entries that apply to a change: those that the client sent, else the current ones. Subresources cannot send any. */
export function inheritOwners ({ metadata }: ApiObject, { metadata: { managedFields: before } }: ApiObject, subresource: string): void {
  const { managedFields: sent } = metadata
  if (sent !== undefined && subresource === '') {
    if (isReset(sent)) metadata.managedFields = []
  } else if (before !== undefined) metadata.managedFields = before
  else delete metadata.managedFields
}

/** Sets the entries of a changed object, in steps. @throws StatusError 422 for malformed entries */
export function * trackChange (
  store: ResourceStore, object: ApiObject, old: ApiObject, context: WriteContext, subresource: string
): WaitingSteps<void> {
  const sent = object.metadata.managedFields ?? []
  const { managedFields: before } = old.metadata
  const same = isIdentical(sent, before)
  const submittedManagers = same || sent.length === 0 ? undefined : read(store, object)
  const managers = submittedManagers ?? (sent.length === 0 ? [] : ownersIn(store, before))
  // Complete entries without fields still enable tracking.
  if (managers.length === 0 && submittedManagers === undefined) {
    delete object.metadata.managedFields
    return
  }
  yield
  const owners = yield * tracked(store, old, object, managers, managerIdentity(store, context, 'Update', subresource), fieldsKept(store, subresource))
  if (same && owners === managers && before !== undefined) object.metadata.managedFields = before
  else setOwners(object, owners)
}

function * tracked (
  store: ResourceStore, before: object, after: object,
  managers: readonly Manager[], identity: ManagerIdentity, ignored: FieldSet
): WaitingSteps<readonly Manager[]> {
  const versions = tolerant(versionsOf(store, false))
  const inRequestVersion = function * (object: object): WaitingSteps<object> {
    if (store.representation === store.stored || Object.keys(object).length === 0) return object
    return yield * convertOne(versions, object, store.stored.apiVersion, identity.apiVersion)
  }
  const states = { before: yield * inRequestVersion(before), after: yield * inRequestVersion(after) }
  return yield * update({ versions, ...states, managers, identity, now: () => now(store), ignored })
}

/** An update that needs a webhook only for owners of other versions succeeds without it: they keep their fields. */
const tolerant = ({ shapes, convert }: Versions): Versions => ({
  shapes,
  convert: (objects, from, to) => {
    const made = convert(objects, from, to)
    return made instanceof Promise ? made.catch(() => []) : made
  }
})

export function setOwners ({ metadata }: ApiObject, owners: readonly Manager[]): void {
  const entries = entriesOf(owners)
  if (entries === undefined) delete metadata.managedFields
  else metadata.managedFields = entries
}

/** Undefined for entries that reset ownership or are incomplete. */
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
