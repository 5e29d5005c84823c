/**
 * Decodes request bodies by Content-Type. Unknown and duplicate fields are ignored, warned about or refused, depending
 * on fieldValidation.
 */
import { GivenBody, type VerbRequest } from '../answers/answer.js'
import { toJson } from '../schemas/codec/json/encode.js'
import { stringify } from '../schemas/codec/json/exact.js'
import { parseInSteps, OF_BODIES, type Parsed } from '../schemas/codec/json/parse.js'
import { protobufInSteps } from '../schemas/codec/protobuf/decode.js'
import { parseYamlBody } from '../schemas/codec/text-thread.js'
import type { Message } from '../schemas/language/declare.js'
import { decode, type Decoded } from '../schemas/language/decode.js'
import { applyDefaults } from '../schemas/language/defaults.js'
import { findingsOfYaml, warningsOf, findingsOfJson, strictFindings } from '../schemas/language/strict-findings.js'
import { Facts } from '../schemas/language/types.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { PUBLIC_PROTOBUF_TYPE } from '../schemas/public-names.js'
import { badRequest, unsupportedMediaType } from '../schemas/status.js'
import { finish, waitFor, type Steps, type WaitingSteps } from '../schemas/steps.js'
import { askerOf } from '../answers/formats/format.js'
import { viewOf } from '../answers/view.js'
import { decodeErrorText, explainingSteps, withDecodeErrorText, unrecognized } from './decode-errors.js'
import { checkNamedType } from './named-types.js'
import type { FieldValidation } from './write-options.js'

const OBJECT_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE]

/** The media type in lower case without parameters; JSON by default. */
export function contentType (request: VerbRequest): string {
  const header = request.headers['content-type'] ?? ''
  const type = (header.split(';', 1)[0] ?? '').trim().toLowerCase()
  if (type === PUBLIC_PROTOBUF_TYPE) return PROTOBUF_TYPE
  return type === '' ? JSON_TYPE : type
}

const TOKEN = String.raw`[\w!#$%&'*+.^\`|~-]+`
const VALUE = String.raw`(?:${TOKEN}|"(?:[^"\\]|\\.)*")`
const PARAMETERS = new RegExp(`^(?:;\\s*${TOKEN}\\s*=\\s*${VALUE}\\s*)*(?:;\\s*)?$`)
const PARAMETER = new RegExp(`;\\s*(${TOKEN})\\s*=\\s*(${VALUE})`, 'g')

/** False if parameters of the Content-Type are malformed, or one has two values. Patches ignore them, as upstream. */
function hasValidParameters ({ headers: { 'content-type': header = '' } }: VerbRequest): boolean {
  const at = header.indexOf(';')
  if (at < 0) return true
  const parameters = header.slice(at)
  if (!PARAMETERS.test(parameters)) return false
  const values = new Map<string, string>()
  for (const [, name = '', value = ''] of parameters.matchAll(PARAMETER)) {
    const earlier = values.get(name.toLowerCase())
    if (earlier !== undefined && earlier !== value) return false
    values.set(name.toLowerCase(), value)
  }
  return true
}

export type RequestBody = Uint8Array | GivenBody

export function bodyOf ({ body }: VerbRequest): RequestBody {
  return body instanceof Uint8Array || body instanceof GivenBody ? body : new Uint8Array()
}

/** Parses JSON, unless it is given as a value. @throws DecodeError */
export const parseBody = (body: RequestBody): Parsed => finish(parseBodyInSteps(body))

function * parseBodyInSteps (body: RequestBody): Steps<Parsed> {
  return body instanceof GivenBody ? { value: body.value, duplicates: [] } : yield * parseInSteps(body)
}

/** Parses JSON or YAML into a plain value. @throws DecodeError */
export const parseText = (type: string, body: RequestBody, request: VerbRequest): Parsed | Promise<Parsed> =>
  type === YAML_TYPE && body instanceof Uint8Array ? parseYamlBody(body, askerOf(request.orch)) : parseBody(body)

/**
 * Decodes the object of a body; `validation` decides about unknown fields.
 * @throws StatusError 400 for an empty body or a Strict violation, 415; DecodeError
 */
export function * decodeBody<T> (
  request: VerbRequest, message: Message<T>, validation: FieldValidation
): WaitingSteps<T> {
  const type = contentType(request)
  const body = bodyOf(request)
  if (!hasValidParameters(request)) {
    throw unsupportedMediaType('the Content-Type header has malformed parameters: write them as name=value')
  }
  if (!OBJECT_TYPES.includes(type)) {
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${OBJECT_TYPES.join(', ')}`
    )
  }
  if (body.length === 0) throw badRequest(unrecognized(message, 'the body is empty'))
  const decoded = type === PROTOBUF_TYPE && body instanceof Uint8Array
    ? yield * explainingSteps(why => decodeErrorText(message, {}, why),
      protobufInSteps(message, body, OF_BODIES, viewOf(request.orch)))
    : yield * decodeText(request, type, body, message)
  yield
  if (validation !== 'Ignore' && decoded.unknown.length + decoded.duplicates.length > 0) {
    applyFieldValidation(request, validation, findingsOf(type, body, message, decoded), why =>
      badRequest(decodeErrorText(message, {}, `strict decoding error: ${why}`)))
  }
  recordSent(request, message as Message<object>, decoded.object as object)
  return decoded.object
}

/** Records the request object in the audit event, in the request's version with its defaults. */
function recordSent ({ orch, server }: VerbRequest, message: Message<object>, object: object): void {
  orch.recorder?.request(object, () => {
    const { featureGates: gates } = server.orchSettings
    applyDefaults(message, object, gates)
    return toJson(message, object, undefined, gates.enabled('UnsetTimesAreOmitted'))
  })
}

/** Records a body that is not an object, such as a patch. */
export function recordSentValue (request: VerbRequest, value: () => unknown): void {
  request.orch.recorder?.request(undefined, () => stringify(value()) ?? 'null')
}

function * decodeText<T> (
  request: VerbRequest, type: string, body: RequestBody, message: Message<T>
): WaitingSteps<Decoded<T> & BodyFindings> {
  const explain = (why: string): string => unrecognized(message, why)
  const parsed = type === YAML_TYPE
    ? waitFor(withDecodeErrorText(explain, () => parseText(type, body, request)))
    : explainingSteps(explain, parseBodyInSteps(body))
  const { value, ...defects } = yield * parsed
  yield
  const view = viewOf(request.orch)
  view.value(message, value)
  yield
  if (body instanceof Uint8Array) checkNamedType(message, value)
  const decoded = withDecodeErrorText(why => decodeErrorText(message, value, why), () =>
    decode(view.message(message), value))
  return { ...decoded, ...defects }
}

interface BodyFindings {
  readonly unknown: readonly string[], readonly duplicates: readonly string[], readonly lines?: readonly string[]
}

/** Unknown and duplicate fields. */
function findingsOf (
  type: string, body: RequestBody, message: Message, { unknown, duplicates, lines }: BodyFindings
): string[] {
  if (type === YAML_TYPE) return findingsOfYaml(unknown, lines)
  // Custom types have no protobuf form.
  return type === JSON_TYPE && message[Facts].protobuf && body instanceof Uint8Array
    ? findingsOfJson(body, unknown, duplicates)
    : strictFindings(unknown, duplicates)
}

const MAX_FINDINGS = 20

/** Ignores findings, warns about them, or throws. @param refusal the error for Strict */
export function applyFieldValidation (
  request: VerbRequest, validation: FieldValidation, findings: readonly string[], refusal: (why: string) => Error
): void {
  if (validation === 'Ignore' || findings.length === 0) return
  if (validation === 'Strict') throw refusal(findings.slice(0, MAX_FINDINGS).join(', '))
  request.orch.warnings.push(...findings.flatMap(warningsOf).slice(0, MAX_FINDINGS))
}
