/**
 * Maintains managedFields on every write: connects `registry/apply/` to stores and requests. Objects without managers,
 * because they are older or a client reset them, get some with the first apply.
 */
import { applyDefaults } from '../../schemas/language/defaults.js'
import type { Subresource } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Representation } from '../../schemas/resource.js'
import type { FieldError } from '../../schemas/status.js'
import { validateManagedFields } from '../../schemas/meta/metadata.js'
import { fieldElement } from '../apply/elements.js'
import { isIdentical } from '../../schemas/language/values.js'
import { setOf, EMPTY, type FieldSet } from '../apply/field-set.js'
import {
  entriesOf, managersIn, submitted, isReset, type Manager, type ManagedFieldsOperation, type ManagerIdentity
} from '../apply/managers.js'
import { reconciled } from '../apply/reconcile.js'
import { shapesOf, type Shape } from '../apply/shape.js'
import { update } from '../apply/update.js'
import { convertOne, type Versions } from '../apply/versions.js'
import type { ResourceStore } from '../resource-store.js'
import { finish, type Steps, type WaitingSteps } from '../../schemas/steps.js'
import { oncePer } from '../../schemas/once-per.js'
import { now, refuse, type ObjectWrite } from '../write-context.js'
import { versionsOf } from './versions-of.js'
import type { ChangeWrite, CreateWrite } from './writes.js'

/** The manager of the server's own writes. */
const SERVER = 'orch-apiserver'

export function managerIdentity (write: ObjectWrite, operation: ManagedFieldsOperation): ManagerIdentity {
  const {
    store: { representation: { apiVersion } }, target: { subresource = '' }, context: { fieldManager = SERVER }
  } = write
  return { manager: fieldManager, operation, apiVersion, subresource }
}

const keptFields = oncePer((_type: Representation) => new Map<string, FieldSet>())

/** Fields that this write cannot change: those of subresources or, for a subresource, those of the object. */
export function fieldsKept ({ representation }: ResourceStore, subresource: string): FieldSet {
  const bySubresource = keptFields(representation)
  let fields = bySubresource.get(subresource)
  if (fields === undefined) {
    bySubresource.set(
      subresource, fields = setOf(keptBy(representation, subresource).map(path => path.split('.').map(fieldElement)))
    )
  }
  return fields
}

function keptBy ({ subresources, kind, message }: Representation, subresource: string): string[] {
  if (subresource === '') return subresources.filter(candidate => (candidate.kind ?? kind) === kind).flatMap(changesOf)
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
const ignoredOnCreate = (store: ResourceStore): FieldSet =>
  store.representation.subresources.some(({ name }) => name === 'status') ? STATUS : EMPTY

type Entries = ApiObject['metadata']['managedFields']
type ObjectChange = CreateWrite | ChangeWrite

/** Reads stored entries. The schema may have changed since, of custom types anywhere. */
export function ownersIn (store: ResourceStore, entries: Entries): readonly Manager[] {
  const managers = managersIn(entries)
  const versions = versionsOf(store, false)
  return managers.map(manager => reconciled(manager, versions, !store.stored.protobuf))
}

/**
 * Sets the managers of a new object, before admission: nobody owns what the server's own plugins add. Entries that the
 * client sent are validated but ignored.
 * @throws StatusError 422 for malformed entries
 */
export function * ownNew (write: CreateWrite): WaitingSteps<void> {
  const { object, applied } = write
  if (applied === undefined) yield * ownSent(write)
  else setOwners(object, applied)
  write.managedFields = object.metadata.managedFields
}

/**
 * The creator owns what webhooks and host plugins have changed, and the defaults that follow from it; earlier defaults
 * belong to nobody. Admission cannot change the managers: they are put back.
 */
export function * ownAdmitted (write: CreateWrite): WaitingSteps<void> {
  const { store, foreignChanges } = write
  restoreOwners(write, write.managedFields)
  const completed = (copy: Record<string, unknown>): ApiObject => {
    const object = copy as unknown as ApiObject // as admission got it
    applyDefaults(store.conversion.written.message, object, store.gates)
    return store.conversion.storable(object)
  }
  for (const { before, after } of foreignChanges) {
    const owners = yield * tracked(write, {
      before: completed(before), after: completed(after), managers: managersIn(write.managedFields),
      ignored: ignoredOnCreate(store)
    })
    write.managedFields = entriesOf(owners)
  }
  const { object: { metadata }, managedFields } = write
  if (managedFields === undefined) delete metadata.managedFields
  else metadata.managedFields = managedFields
}

function * ownSent (write: CreateWrite): WaitingSteps<void> {
  const { store, object, object: { metadata } } = write
  if (metadata.managedFields !== undefined) yield * read(store, object)
  delete metadata.managedFields
  const states = { before: {}, after: store.conversion.storable(object), managers: [], ignored: ignoredOnCreate(store) }
  setOwners(object, yield * tracked(write, states))
}

/**
 * Puts back the managedFields that admission was given if it has made them unreadable, and warns, as upstream.
 */
export function restoreOwners ({ object: { metadata }, context: { caller } }: ObjectChange, given: Entries): void {
  const { managedFields: left } = metadata
  if (left === undefined || left === given || isReset(left) || isIdentical(left, given)) return
  const { managers, findings } = finish(sentOwners(metadata))
  const [finding] = findings
  if (managers !== undefined && finding === undefined) return
  if (given === undefined) delete metadata.managedFields
  else metadata.managedFields = given
  const why = finding === undefined
    ? 'an entry has no apiVersion, fieldsType or operation'
    : `${finding.field}: ${finding.detail}`
  caller.warn?.('.metadata.managedFields was in an invalid state after admission; this could be caused by an ' +
    `outdated mutating admission controller; please fix your requests: ${why}`)
}

/**
 * Chooses the entries that apply to a change: those that the client sent, else the current ones. Subresources cannot
 * send any.
 */
export function inheritOwners (write: ChangeWrite): void {
  const { object: { metadata }, oldObject: { metadata: { managedFields: before } }, subresource } = write
  const { managedFields: sent } = metadata
  if (sent !== undefined && subresource === '') {
    if (isReset(sent)) metadata.managedFields = []
  } else if (before !== undefined) metadata.managedFields = before
  else delete metadata.managedFields
}

/**
 * The author of a change owns the changed fields, but no allocated values.
 * @throws StatusError 422 for malformed entries
 */
export function * ownChange (write: ChangeWrite): WaitingSteps<void> {
  const { store, object, oldObject: old, subresource } = write
  const sent = object.metadata.managedFields ?? []
  const { managedFields: before } = old.metadata
  const same = isIdentical(sent, before)
  const submittedManagers = same || sent.length === 0 ? undefined : yield * read(store, object)
  const managers = submittedManagers ?? (sent.length === 0 ? [] : ownersIn(store, before))
  // Complete entries without fields still enable tracking.
  if (managers.length === 0 && submittedManagers === undefined) {
    delete object.metadata.managedFields
    return
  }
  yield
  const states = {
    before: old, after: store.conversion.storable(object), managers, ignored: fieldsKept(store, subresource)
  }
  const owners = yield * tracked(write, states)
  if (same && owners === managers && before !== undefined) object.metadata.managedFields = before
  else setOwners(object, owners)
}

interface Tracked {
  readonly before: object
  readonly after: object
  readonly managers: readonly Manager[]
  readonly ignored: FieldSet
}

function * tracked (
  write: ObjectWrite, { before, after, managers, ignored }: Tracked
): WaitingSteps<readonly Manager[]> {
  const { store } = write
  const identity = managerIdentity(write, 'Update')
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
    const converted = convert(objects, from, to)
    return converted instanceof Promise ? converted.catch(() => []) : converted
  }
})

export function setOwners ({ metadata }: ApiObject, owners: readonly Manager[]): void {
  const entries = entriesOf(owners)
  if (entries === undefined) delete metadata.managedFields
  else metadata.managedFields = entries
}

/** Undefined for entries that reset ownership or are incomplete. */
function * read (store: ResourceStore, object: ApiObject): WaitingSteps<Manager[] | undefined> {
  if (isReset(object.metadata.managedFields ?? [])) return undefined
  const { managers, findings } = yield * sentOwners(object.metadata)
  refuse(store, object, findings)
  return managers
}

interface SentOwners { readonly managers: Manager[] | undefined, readonly findings: FieldError[] }

function * sentOwners (metadata: ApiObject['metadata']): Steps<SentOwners> {
  const findings: FieldError[] = []
  validateManagedFields(metadata, finding => { findings.push(finding) })
  const managers = yield * submitted(metadata.managedFields ?? [], ({ index, detail }) => {
    findings.push({ type: 'FieldValueInvalid', field: `metadata.managedFields[${index}].fieldsV1`, detail })
  })
  return { managers, findings }
}
