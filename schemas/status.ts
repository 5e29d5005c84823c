/**
 * The Status kind (meta v1) and its errors. A `StatusError` may be thrown anywhere; the error handler renders it.
 */
import { stringify } from './codec/json/exact.js'

export interface StatusCause {
  reason?: string
  message?: string
  /** Path of the field, `metadata.labels[app]`, `subjects[0].name`. */
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  /** The resource (plural) or kind the failure is about. */
  kind?: string
  uid?: string
  causes?: StatusCause[]
  /** Seconds; also sent as the Retry-After header. */
  retryAfterSeconds?: number
}

export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: Record<string, unknown>
  status: 'Success' | 'Failure'
  message?: string
  reason?: StatusReason
  details?: StatusDetails
  code: number
}

const CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  ServerTimeout: 504
} as const

export type StatusReason = keyof typeof CODES

/** The group and resource an error names. */
export interface GroupResource { readonly group: string, readonly resource: string }

/** Messages quote client input, up to these lengths. */
const MAX_MESSAGE = 4000
const MAX_NAME = 2000
const cut = (text: string, most: number): string => text.length > most ? `${text.slice(0, most)}…` : text

/** A failure with the Status for the client; the cause is only logged. */
export class StatusError extends Error {
  readonly status: Status
  /** Extra response headers, in lower case. */
  readonly headers: Record<string, string>
  /** Suppresses the per-request log line, because the failure is logged elsewhere. */
  readonly unlogged: boolean

  /** @param reason undefined for a Status without a reason */
  constructor (
    reason: StatusReason | undefined, message: string,
    options: {
      details?: StatusDetails, headers?: Record<string, string>, cause?: unknown, code?: number, unlogged?: boolean,
      metadata?: Status['metadata']
    } = {}
  ) {
    const bounded = cut(message, MAX_MESSAGE)
    super(bounded, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StatusError'
    const { details } = options
    this.status = {
      kind: 'Status', apiVersion: 'v1', metadata: options.metadata ?? {}, status: 'Failure', message: bounded,
      ...(reason === undefined ? {} : { reason }), ...(details ? { details } : {}),
      code: options.code ?? (reason === undefined ? 500 : CODES[reason])
    }
    this.headers = options.headers ?? {}
    this.unlogged = options.unlogged === true
    if (details?.retryAfterSeconds !== undefined) this.headers['retry-after'] = String(details.retryAfterSeconds)
  }

  /** For a route of a host that lets it through: Fastify answers with this code. */
  get statusCode (): number { return this.status.code }
}

export function isStatusError (error: unknown, reason?: StatusReason): error is StatusError {
  return error instanceof StatusError && (reason === undefined || error.status.reason === reason)
}

function qualified ({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

const about = ({ group, resource }: GroupResource, name?: string): StatusDetails => ({
  ...(name ? { name: cut(name, MAX_NAME) } : {}), ...(group ? { group } : {}), ...(resource ? { kind: resource } : {})
})

const quoted = (name: string): string => JSON.stringify(cut(name, MAX_NAME))

export const badRequest = (message: string, cause?: unknown) => new StatusError('BadRequest', message, { cause })
/** A reference without a name. */
export const noName = () => badRequest('Name parameter required.')
export const unauthorized = () => new StatusError('Unauthorized', 'Unauthorized')
export const notFound = (resource: GroupResource, name: string) =>
  new StatusError('NotFound', `${qualified(resource)} ${quoted(name)} not found`, { details: about(resource, name) })
/** The path names nothing the server has. @param hint what to do about it */
export const noSuchPath = (hint = '') => new StatusError(
  'NotFound', `the server could not find the requested resource${hint === '' ? '' : `: ${hint}`}`, { details: {} }
)
export const methodNotAllowed = () => new StatusError(
  'MethodNotAllowed', 'the server does not allow this method on the requested resource', { details: {} }
)
/** The resource does not support the action, although its path accepts the method. */
export const notSupported = (resource: GroupResource, action: string) =>
  new StatusError(
    'MethodNotAllowed', `${action} is not supported on resources of kind ${quoted(qualified(resource))}`,
    { details: about(resource) }
  )
/** A 500 without a reason: a server behind this one is unreachable, or its response is invalid. */
export const unexplained = (message: string, cause?: unknown) => new StatusError(undefined, message, { cause })
/** A feature of this release that the server does not implement yet. */
export const notOffered = (what: string) =>
  new StatusError('MethodNotAllowed', `${what} is not offered by this version of the server yet`, { details: {} })
export const notAcceptable = (offered: readonly string[]) =>
  new StatusError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`)
/** @param going the existing object is being deleted, so a retry may succeed */
export const alreadyExists = (resource: GroupResource, name: string, going = false) =>
  new StatusError(
    'AlreadyExists', `${going ? 'object is being deleted: ' : ''}${qualified(resource)} ${quoted(name)} already exists`,
    { details: about(resource, name) }
  )
/** A generated name exists already; a retry generates another. */
export const noUniqueName = (resource: GroupResource, name: string) =>
  new StatusError('AlreadyExists', `${qualified(resource)} ${quoted(name)} already exists, the server was not able ` +
    'to generate a unique name for the object', {
    details: { ...about(resource, name), retryAfterSeconds: 1 }
  })
export const conflict = (resource: GroupResource, name: string, why: string) =>
  new StatusError('Conflict', `Operation cannot be fulfilled on ${qualified(resource)} ${quoted(name)}: ${why}`, {
    details: about(resource, name)
  })
/** @param token continue token for the rest of the list */
export const expired = (message: string, token?: string) =>
  new StatusError('Expired', message, token === undefined ? {} : { metadata: { continue: token } })
export const tooLarge = (message: string) =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: ${message}`)
export const unsupportedMediaType = (message: string, headers: Record<string, string> = {}) =>
  new StatusError('UnsupportedMediaType', message, { headers })
export const tooManyRequests = (message: string, retryAfterSeconds?: number) =>
  new StatusError('TooManyRequests', message, retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } })
/** @param unlogged the log says it otherwise */
export const internalError = (cause: unknown, unlogged = false) =>
  new StatusError(
    'InternalError', 'Internal error occurred: the server could not complete the request; its log says why',
    { cause, unlogged }
  )
export const serviceUnavailable = (message: string, cause?: unknown) =>
  new StatusError('ServiceUnavailable', message, { cause })
export const timeout = (message: string, retryAfterSeconds?: number) =>
  new StatusError(
    'Timeout', `Timeout: ${message}`, retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }
  )
/** Nobody waits for the answer any longer, by no fault of the server, so it is not logged. */
export const endedBefore = (what: string) =>
  new StatusError('Timeout', `the request ended before ${what}`, { unlogged: true })
/** The client has asked for a version that the store has not reached; no failure of the store, so not logged. */
export const futureVersion = (message: string) => new StatusError('Timeout', `Timeout: ${message}`, {
  unlogged: true,
  details: {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1
  }
})
/** The client was slow, so 408 and not 504. */
export const bodyTooSlow = () => new StatusError('Timeout', 'the request body did not arrive in time', { code: 408 })
export const forbidden = (resource: GroupResource, name: string, why: string) => {
  const subject = resource.resource === '' ? '' : `${qualified(resource)}${name ? ` ${quoted(name)}` : ''} is `
  return new StatusError('Forbidden', `${subject}forbidden: ${why}`, { details: about(resource, name) })
}

/** One violation found by validation. */
export interface FieldError {
  readonly type: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueNotSupported' | 'FieldValueDuplicate'
    | 'FieldValueForbidden' | 'FieldValueNotFound' | 'FieldValueTooLong' | 'FieldValueTooMany' | 'FieldValueTypeInvalid'
  readonly field: string
  readonly value?: unknown
  readonly detail: string
  /** Managers of the stored object that own the field. */
  readonly owners?: readonly string[]
  /** An update is not refused for it where the stored object has the same fault. */
  readonly isForgiven?: true
}

const PHRASES: Record<FieldError['type'], string> = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueNotFound: 'Not found',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value'
}
/** Maximum owners of a field to name. */
const MAX_OWNERS = 3
const WITHOUT_VALUE = new Set<FieldError['type']>(['FieldValueRequired', 'FieldValueForbidden', 'FieldValueTooLong'])

/** The messages as one; several in brackets. */
export const listed = (findings: readonly string[]): string =>
  findings.length === 1 ? findings.join() : `[${findings.join(', ')}]`

/** `Required value: … (owned by "kubectl")`, with values cut to a bounded length. */
export function describe ({ type, value, detail, owners = [] }: FieldError): string {
  // As upstream, a nil value prints as "null".
  const valueText = WITHOUT_VALUE.has(type) || value === undefined
    ? ''
    : `: ${clip(stringify(value ?? 'null') ?? String(value))}`
  return `${PHRASES[type]}${valueText}${detail ? `: ${detail}` : ''}` +
    `${owners.length === 0 ? '' : ` (owned by ${owners.slice(0, MAX_OWNERS).map(quoted).join(' and ')})`}`
}

const clip = (text: string): string => cut(text, 200)

/** 422 with one cause for each distinct error. */
export function invalid (
  kind: { group: string, kind: string }, name: string, errors: readonly FieldError[]
): StatusError {
  const causes = new Map<string, { reason: string, message: string, field?: string }>()
  const lines = new Set<string>()
  for (const error of errors) {
    const { type: reason, field } = error
    const message = describe(error)
    lines.add(`${field}: ${message}`)
    causes.set(`${reason} ${field}: ${message}`, {
      reason, message: cut(message, MAX_MESSAGE), ...(field === '' ? {} : { field: cut(field, MAX_NAME) })
    })
  }
  const subject = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  return new StatusError('Invalid', `${subject} ${quoted(name)} is invalid: ${listed([...lines].slice(0, 20))}`, {
    details: {
      ...(name ? { name: cut(name, MAX_NAME) } : {}),
      ...(kind.group ? { group: kind.group } : {}),
      ...(kind.kind ? { kind: kind.kind } : {}),
      causes: [...causes.values()].slice(0, 100)
    }
  })
}
