/**
 * PATCH with an apply patch: from the body to the applied configuration, and through the operation to the answer.
 * (Interface: Generic request shapes 5.)
 */
import { parseJson, type Parsed } from '../../schemas/codec/json/parse.js'
import type { Message } from '../../schemas/language/declare.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { decode, undeclaredIn } from '../../schemas/language/decode.js'
import { findingsOfYaml, strictFindings } from '../../schemas/language/strict-findings.js'
import type { SubresourceView } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { APPLY_TYPE, YAML_TYPE } from '../../schemas/media-types.js'
import { badRequest, invalid, type FieldError } from '../../schemas/status.js'
import { waitFor, type WaitingSteps } from '../../schemas/steps.js'
import { entryAnswer, type EntryAnswer, type ObjectAnswer, type VerbRequest } from '../../answers/answer.js'
import { viewOf } from '../../answers/view.js'
import { Facts } from '../../schemas/language/types.js'
import { appliedValue, validateConfig } from '../../registry/apply/config.js'
import { membersOf, shapesOf, type Shape } from '../../registry/apply/shape.js'
import { apply } from '../../registry/verbs/apply.js'
import { matchTarget } from '../../registry/stages/identity.js'
import type { Target } from '../../registry/write-context.js'
import { completeView, viewConfig } from '../../registry/verbs/view-config.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { applyFieldValidation, bodyOf, contentType, parseText, recordSentValue, type RequestBody } from '../body.js'
import { bool, text } from '../query.js'
import { viewAnswer } from './view.js'
import { contextOf, targetOf } from './write.js'
import { checkFieldManager, fieldValidation } from '../write-options.js'

export const isApply = (request: VerbRequest): boolean => contentType(request) === APPLY_TYPE

export async function applyObject (store: ResourceStore, request: VerbRequest): Promise<EntryAnswer> {
  const { entry, created } = await apply(store, function * () {
    const { config, ...rest } = yield * configOf(request, store.representation.message, store)
    return { configOf: () => config, ...rest }
  }, targetOf(request), contextOf(request))
  return entryAnswer(request, store, entry, created ? 201 : 200)
}

/** Applies to a view of the object; its fields are owned as the fields of the object behind them. */
export async function applyView (
  store: ResourceStore, view: SubresourceView, request: VerbRequest
): Promise<ObjectAnswer> {
  const { entry } = await apply(store.forVersion(store.stored), function * () {
    const { config, force } = yield * configOf(request, view.message, store)
    return {
      configOf: base => viewConfig(store, view, base, config), force,
      view: { version: config.apiVersion, complete: object => { completeView(view, object) } }
    }
  }, targetOf(request), contextOf(request))
  return viewAnswer(request, store, view, entry)
}

interface Config { readonly config: ApiObject, readonly sent: unknown, readonly force: boolean }

/** @throws StatusError 400, 415, 422; DecodeError */
function * configOf (
  request: VerbRequest, message: Message<ApiObject>, store: ResourceStore
): WaitingSteps<Config> {
  const { query, info } = request.orch
  checkFieldManager(request)
  if (text(query, 'fieldManager') === '') {
    throw invalid({ group: 'meta.orch.io', kind: 'PatchOptions' }, '', [
      { type: 'FieldValueRequired', field: 'fieldManager', detail: 'is required for apply patch' }
    ])
  }
  const force = bool(query, 'force')
  const validation = fieldValidation(request)
  const body = bodyOf(request)
  if (body.length === 0) throw badRequest('the request body is empty; an object is needed')
  const { value, lines } = yield * parsed(request, body)
  yield
  const view = viewOf(request.orch)
  const sent = view.message(message)
  view.value(message, value)
  recordSentValue(request, () => value)
  yield
  checkType(message, value)
  const { object, unknown, freeForm } = decode(sent, value)
  if (message === store.stored.message) unknown.push(...store.gated.dropUnknown(object, undefined))
  applyFieldValidation(request, validation, findingsOfYaml([], lines), why =>
    badRequest(`error strict decoding YAML: error converting YAML to JSON: ${why}`))
  const undeclared = undeclaredIn({ unknown, freeForm })
  if (undeclared.length > 0) {
    throw badRequest(`failed to create typed patch object: ${undeclared.slice(0, 20).join(', ')}`)
  }
  // Upstream drops them without a word, even where validation is strict.
  applyFieldValidation(request, validation === 'Strict' ? 'Warn' : validation, strictFindings(unknown, []), badRequest)
  const { whole, owned } = shapesOf(message, store.gates)
  // an object of the message
  const config = {
    kind: object.kind, apiVersion: object.apiVersion,
    ...appliedValue(shapesOf(sent, store.gates).whole, value, object) as { metadata: ApiObject['metadata'] }
  }
  config.metadata = withoutNulls(config.metadata, owned)
  matchConfig(store, config, info)
  const findings: FieldError[] = []
  const report = (finding: FieldError): void => { findings.push(finding) }
  validateConfig(whole, config, Object.assign(report, { gates: store.gates }))
  if (findings.length > 0) throw invalid({ group: info.group, kind: object.kind }, info.name, findings)
  return { config, sent: value, force }
}

/** Machines usually send JSON, which is also YAML: parsing it as JSON costs a hundredth. */
function * parsed (request: VerbRequest, body: RequestBody): WaitingSteps<Parsed> {
  if (body instanceof Uint8Array && body[0] === 0x7b) {
    try {
      const read = parseJson(body)
      if (read.duplicates.length === 0) return read
    } catch (error) {
      if (!isDecodeError(error)) throw error
    }
  }
  return yield * waitFor(parseText(YAML_TYPE, body, request))
}

const MAX_QUOTED = 300

/** @throws StatusError 400 */
function checkType (message: Message, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('what is applied must be an object')
  }
  const { apiVersion, kind, metadata } = membersOf(value)
  const expected = message[Facts].type?.apiVersion
  if (expected !== undefined && apiVersion !== expected) {
    throw badRequest('Incorrect version specified in apply patch. Specified patch version: ' +
      `${typeof apiVersion === 'string' ? apiVersion.slice(0, MAX_QUOTED) : ''}, expected: ${expected}`)
  }
  if (typeof kind !== 'string' || kind === '') throw badRequest('what is applied must name its kind')
  if ((membersOf(metadata)['managedFields'] ?? null) !== null) {
    throw badRequest('metadata.managedFields must not be set')
  }
}

/** Drops null metadata that identifies the object or that the server sets. */
function withoutNulls (metadata: ApiObject['metadata'] | undefined, owned: Shape): ApiObject['metadata'] {
  const ownable = owned.declared('metadata')
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([name, value]) => value !== null ||
    ownable?.declared(name) !== undefined))
}

/** Matches name and namespace with the URL; missing ones stay missing. @throws StatusError 400 */
function matchConfig (store: ResourceStore, { metadata }: ApiObject, target: Target): void {
  matchTarget(store, { metadata: { ...metadata, name: metadata.name || target.name } }, target)
  if (!store.type.namespaced) delete metadata.namespace
}
