/** Validation of CertificateSigningRequests, and preparation of what each subresource may change. */
import { isOn, type Gates } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { clone } from '../../../language/values.js'
import { timestamp } from '../../../meta/time.js'
import type { UserInfo } from '../../../meta/user-info.js'
import { dnsLabel, dnsSubdomain, type NameRule } from '../../../names.js'
import { duplicate, forbidden, invalid, notSupported, required, tooLong } from '../../../rules/findings.js'
import type {
  CertificateSigningRequest, CertificateSigningRequestCondition as Condition, CertificateSigningRequestSpec
} from '../certificatesigningrequests.js'
import { certificatesFinding, requestFinding } from '../pem.js'

const LEGACY = 'orch.io/legacy-unknown'
const MAX_NAME = 571
const MAX_DOMAIN = 253
const MIN_SECONDS = 600
const EXCLUSIVE = ['Approved', 'Denied']
const DECISIONS = [...EXCLUSIVE, 'Failed']
const STATES = ['True', 'False', 'Unknown']
const CONDITIONS = 'status.conditions'
const text = (base64: string): string => Buffer.from(base64, 'base64').toString()

export function validateRequestSpec (
  { request, signerName, usages = [], expirationSeconds }: CertificateSigningRequestSpec, at: string, report: Report
): void {
  const wrong = requestFinding(text(request ?? ''))
  if (wrong !== undefined) invalid(report, `${at}.request`, request, wrong)
  if (usages.length === 0) required(report, `${at}.usages`, 'usages must be provided')
  const seen = new Set<string>()
  for (const [index, usage] of usages.entries()) {
    if (seen.has(usage)) duplicate(report, `${at}.usages[${index}]`, usage)
    seen.add(usage)
  }
  validateSigner(signerName, `${at}.signerName`, report)
  if (expirationSeconds !== undefined && expirationSeconds < MIN_SECONDS) {
    invalid(
      report, `${at}.expirationSeconds`, expirationSeconds,
      'may not specify a duration less than 600 seconds (10 minutes)'
    )
  }
}

/** `domain/path`; the field's declaration reports an empty name. */
function validateSigner (name: string, at: string, report: Report): void {
  if (name === '') return
  if (name === LEGACY) return invalid(report, at, name, 'the legacy signerName is not allowed via this API version')
  const [domain = '', path = '', ...more] = name.split('/')
  if (name.split('/').length < 2 || more.length > 0) {
    return invalid(report, at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
  }
  if (domain.length > MAX_DOMAIN) tooLong(report, at, MAX_DOMAIN)
  validateParts(domain, dnsLabel, at, report)
  if (!domain.includes('.')) {
    invalid(report, at, domain, 'should be a domain with at least two segments separated by dots')
  }
  validateParts(path, dnsSubdomain, at, report)
  if (name.length > MAX_NAME) tooLong(report, at, MAX_NAME)
}

/** Reports the first invalid label only. */
function validateParts (name: string, rule: NameRule, at: string, report: Report): void {
  const wrong = name.split('.').find(part => rule(part).length > 0)
  if (wrong !== undefined) {
    for (const detail of rule(wrong)) invalid(report, at, name, `validating label ${JSON.stringify(wrong)}: ${detail}`)
  }
}

/** Validates conditions and the certificate. Unlike the declarations, refuses an empty type and status. */
export function validateRequestStatus (
  { status: { conditions = [], certificate = '' } }: CertificateSigningRequest, report: Report
): void {
  const types = new Set<string>()
  for (const [index, { type, status }] of conditions.entries()) {
    const at = `${CONDITIONS}[${index}]`
    const known = DECISIONS.includes(type) ? ['True'] : STATES
    if (type === '') required(report, `${at}.type`)
    if (status === '') required(report, `${at}.status`)
    else if (!known.includes(status)) notSupported(report, `${at}.status`, status, known)
    if (EXCLUSIVE.includes(type) && EXCLUSIVE.some(other => other !== type && types.has(other))) {
      const field = isOn(report, 'CertificateDecisionsAreOneFinding') ? CONDITIONS : `${at}.type`
      invalid(report, field, type, 'Approved and Denied conditions are mutually exclusive')
    }
    if (types.has(type)) duplicate(report, `${at}.type`, type)
    types.add(type)
  }
  const wrong = certificate === '' ? undefined : certificatesFinding(text(certificate))
  if (wrong !== undefined) invalid(report, 'status.certificate', '<certificate data>', wrong)
}

/** Decisions are final, and only the approval subresource adds them. The certificate is set once. */
export function validateRequestUpdate (
  object: CertificateSigningRequest, old: CertificateSigningRequest, subresource: string, report: Report
): void {
  for (const type of DECISIONS) {
    if (conditionsOf(object, type).length < conditionsOf(old, type).length) {
      forbidden(report, CONDITIONS, `updates may not remove a condition of type "${type}"`)
    }
  }
  // `keepDecision` has restored changed conditions already.
  if (subresource !== 'approval') {
    for (const type of EXCLUSIVE) {
      if (conditionsOf(object, type).length > conditionsOf(old, type).length) {
        forbidden(report, CONDITIONS, `updates may not add a condition of type "${type}"`)
      }
    }
  }
  const [certificate, issued] = [object.status.certificate ?? '', old.status.certificate ?? '']
  if (certificate !== issued && issued !== '') {
    forbidden(report, 'status.certificate', 'updates may not modify existing certificate content')
  }
}

const conditionsOf = ({ status: { conditions = [] } }: CertificateSigningRequest, wanted: string): Condition[] =>
  conditions.filter(({ type }) => type === wanted)

/** Sets the requesting user and drops what the client claims. */
export function prepareRequest ({ spec }: CertificateSigningRequest, user: UserInfo | undefined): void {
  for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field]
  if (user === undefined) return
  if (user.username !== '') spec.username = user.username
  if (user.uid !== '') spec.uid = user.uid
  if (user.groups.length > 0) spec.groups = [...user.groups]
  const extra = Object.entries(user.extra)
  if (extra.length > 0) spec.extra = Object.fromEntries(extra.map(([key, values]) => [key, [...values]]))
}

/**
 * Restores the spec, and decisions in a status update. Sets missing times of conditions.
 * @param now milliseconds since 1970
 */
export function prepareRequestUpdate (
  object: CertificateSigningRequest, old: CertificateSigningRequest, subresource: string, _gates: Gates, now: number
): void {
  object.spec = clone(old.spec)
  if (subresource === '') return
  if (subresource === 'status') for (const type of EXCLUSIVE) keepDecision(object, old, type)
  const time = timestamp(now)
  const key = ({ type, status }: Condition): string => JSON.stringify([type, status])
  const before = new Map(old.status.conditions?.map(condition => [key(condition), condition.lastTransitionTime]))
  for (const condition of object.status.conditions ?? []) {
    condition.lastUpdateTime ??= time
    condition.lastTransitionTime ??= before.get(key(condition)) ?? time
  }
}

/** Restores conditions of a type. If their number changed, leaves them to validation. */
function keepDecision (object: CertificateSigningRequest, old: CertificateSigningRequest, type: string): void {
  const decided = conditionsOf(old, type)
  if (decided.length !== conditionsOf(object, type).length) return
  object.status.conditions = object.status.conditions
    ?.map(condition => condition.type === type ? { ...decided.shift() ?? condition } : condition)
}
