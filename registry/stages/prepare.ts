/** Prepares objects for validation once they are admitted: values that the server decides. */
import { emptyField } from '../../schemas/language/plan.js'
import { putAt } from '../../schemas/language/values.js'
import type { Subresource } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { ResourceStore } from '../resource-store.js'
import { fillDefaults } from '../outgrown.js'
import { mergeOwnerReferences } from './owner-references.js'
import type { Stage } from './run.js'
import { randomSuffix, SUFFIX_LENGTH } from './suffix.js'
import type { ChangeWrite, CreateWrite } from './writes.js'

type Members = Record<string, unknown>
// An object has its fields as members.
export const membersOf = (object: ApiObject): Members => object as unknown as Members

/** Mutating admission may have taken away defaults, or repeated owner references. */
export function defaultAgain ({ store, object, oldObject, context, subresource }: CreateWrite | ChangeWrite): void {
  // What is behind a view was stored, not sent.
  const { conversion: { written }, stored, gates } = store
  fillDefaults(subresourceOf(store, subresource)?.view === undefined ? written : stored, gates, object, oldObject)
  store.defaults.fill(object)
  mergeOwnerReferences(object, context.caller, true)
}

const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH

/** Generates the name of an object that has none, at each attempt another one. */
export const NAME: Stage<CreateWrite> = {
  name: 'name',
  when: ({ generatedName, object: { metadata: { name = '', generateName = '' } } }) =>
    generatedName !== undefined || (name === '' && generateName !== ''),
  run: write => {
    const { object: { metadata } } = write
    const name = (metadata.generateName ?? '').slice(0, MAX_BASE_LENGTH) + randomSuffix()
    metadata.name = name
    write.generatedName = name
  }
}

/** Notes names without effect, before what they name is dropped. */
export function checkNames (write: CreateWrite): void {
  write.misnamed = write.context.misnamed?.(write.object, undefined) ?? []
}

/** Prepares a new object whose name is known. */
export function prepareNew (write: CreateWrite): void {
  const { store, object, context: { caller } } = write
  const { user } = caller
  for (const { name, changes = [] } of store.representation.subresources) {
    if (name !== 'status' || store.strategy.statusOfNew === true) continue
    for (const field of changes) putAt(membersOf(object), field, emptyField(store.stored.message, field))
  }
  store.representation.rules?.prepare?.(object, undefined)
  dropGated(write, undefined)
  store.strategy.prepareForCreate?.(object, user, store.gates, text => { caller.warn?.(text) })
  if (store.generation !== undefined) object.metadata.generation = 1
  const { conversion, stored, gates } = store
  if (conversion.written === stored) fillDefaults(stored, gates, object) // some depend on the name
  store.defaults.fill(object)
}

export function dropGated ({ store, object, context }: CreateWrite | ChangeWrite, old: ApiObject | undefined): void {
  for (const text of store.strategy.notKept?.(object, old, store.gates) ?? []) context.caller.warn?.(text)
  store.gated.drop(object, old)
  store.strategy.dropGated?.(object, old, store.gates)
}

/** The declaration of a subresource that is written. */
export const subresourceOf = ({ representation }: ResourceStore, subresource: string): Subresource | undefined =>
  subresource === '' ? undefined : representation.subresources.find(({ name }) => name === subresource)
