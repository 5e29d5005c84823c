/** Validates prepared objects. */
import { checkAddressForms, holdsAddresses } from '../../schemas/language/addresses.js'
import { inNotationOf } from '../../schemas/language/notation.js'
import {
  collect, validateSubresource, validateObject, validateUpdate, validateVersion
} from '../../schemas/language/validation.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { FieldError } from '../../schemas/status.js'
import { waitFor, type WaitingSteps } from '../../schemas/steps.js'
import { mayGet, refuse } from '../write-context.js'
import { withOwners } from './field-owners.js'
import { subresourceOf } from './prepare.js'
import type { ChangeWrite, CreateWrite } from './writes.js'

/** @throws StatusError 422 */
export function * validateNew (write: CreateWrite): WaitingSteps<void> {
  const { store, object, misnamed } = write
  const admitted = yield * admissionFindings(write)
  const own = [...admitted, ...validateObject(store.stored, object, store.gates), ...misnamed]
  const ofVersion = yield * validateVersion(store.representation, {
    object, old: undefined, subresource: '', gates: store.gates
  })
  refuse(store, object, [...own, ...ofVersion, ...addressForms(write, undefined)])
  accept(write, undefined)
}

/** @throws StatusError 422, which tells readers of the object who owns the refused fields */
export function * validateChange (write: ChangeWrite): WaitingSteps<void> {
  const { store, object, oldObject: old, subresource, context: { caller, misnamed, fieldManager = '' } } = write
  const named = subresourceOf(store, subresource)
  const admitted = yield * admissionFindings(write)
  const isWhole = named?.changes === undefined && named?.validateUpdate === undefined
  const before = inNotationOf(store.stored.message, object, old, named?.changes)
  const own = isWhole
    ? validateUpdate(store.stored, object, before, store.gates)
    : validateSubresource(store.stored, { object, old: before }, named, store.gates)
  const names = misnamed?.(object, old) ?? []
  const { representation, gates } = store
  const warn = (text: string): void => { caller.warn?.(text) }
  const ofVersion = yield * validateVersion(representation, { object, old: before, subresource, gates, warn })
  const all = [...admitted, ...own, ...names, ...ofVersion, ...addressForms(write, old)]
  if (all.length > 0) {
    const explains = yield * waitFor(mayGet(write))
    refuse(store, object, explains ? withOwners(store, { findings: all, object, old, own: fieldManager }) : all)
  }
  accept(write, old)
}

function * admissionFindings (write: CreateWrite | ChangeWrite): WaitingSteps<readonly FieldError[]> {
  const { admission } = write.store
  return admission.findings === undefined ? [] : yield * waitFor(admission.findings(write.admitted))
}

/** In releases that are strict about them. */
function addressForms (
  { store: { stored, gates }, object, context: { caller } }: CreateWrite | ChangeWrite, old: ApiObject | undefined
): FieldError[] {
  if (!gates.enabled('StrictIPCIDRValidation') || !holdsAddresses(stored.message)) return []
  return collect(report => { checkAddressForms(stored.message, object, old, report) }, gates, text => {
    caller.warn?.(text)
  })
}

function accept (
  { store: { strategy, gates }, object, subresource, context }: CreateWrite | ChangeWrite, old: ApiObject | undefined
): void {
  strategy.canonicalize?.(object, gates)
  if (old === undefined || subresource === '') {
    for (const text of strategy.warnings?.(object, old, gates) ?? []) context.caller.warn?.(text)
  }
}
