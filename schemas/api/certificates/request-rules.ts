/** What a CertificateSigningRequest has to keep to, and who may change what of it. */
import type { Report } from '../../language/types.js'
import type { UserInfo } from '../../auth/user.js'
import { sameValue } from '../../language/values.js'
import { dnsSubdomain } from '../../names.js'
import { duplicate, forbidden, invalid, named, notSupported, required, tooLong } from '../../rules/findings.js'
import type { CertificateSigningRequest, CertificateSigningRequestSpec } from './certificatesigningrequests.js'
import { certificatesFinding, requestFinding } from './pem.js'

const LEGACY = 'orch.io/legacy-unknown'
const MOST_NAME = 571
const LEAST_SECONDS = 600
const DECISIONS = ['Approved', 'Denied', 'Failed']
const STATES = ['True', 'False', 'Unknown']
const CONDITIONS = 'status.conditions'
const text = (base64: string): string => Buffer.from(base64, 'base64').toString()

export function validateRequestSpec ({ request, signerName, usages = [], expirationSeconds }: CertificateSigningRequestSpec, at: string, report: Report): void {
  const wrong = requestFinding(text(request ?? ''))
  if (wrong !== undefined) invalid(report, `${at}.request`, request, wrong)
  if (usages.length === 0) required(report, `${at}.usages`, 'usages must be provided')
  for (const [index, usage] of usages.entries()) if (usages.indexOf(usage) < index) duplicate(report, `${at}.usages[${index}]`, usage)
  validateSigner(signerName, `${at}.signerName`, report)
  if (expirationSeconds !== undefined && expirationSeconds < LEAST_SECONDS) invalid(report, `${at}.expirationSeconds`, expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)')
}

/** `domain/path`; an empty one is reported as required. */
function validateSigner (name: string, at: string, report: Report): void {
  if (name === '') return
  if (name === LEGACY) return invalid(report, at, name, 'the legacy signerName is not allowed via this API version')
  const [domain = '', path = '', ...more] = name.split('/')
  if (name.split('/').length < 2 || more.length > 0) return invalid(report, at, name, 'must be a fully qualified domain and path of the form example.com/signer-name')
  named(report, at, domain, dnsSubdomain)
  if (!domain.includes('.')) invalid(report, at, domain, 'should be a domain with at least two segments separated by dots')
  named(report, at, path, dnsSubdomain)
  if (name.length > MOST_NAME) tooLong(report, at, MOST_NAME)
}

/** What was decided, and the certificate. Empty texts are reported here: of the conditions none may be. */
export function validateRequestStatus ({ status: { conditions = [], certificate = '' } }: CertificateSigningRequest, report: Report): void {
  for (const [index, { type, status }] of conditions.entries()) {
    const at = `${CONDITIONS}[${index}]`
    const known = DECISIONS.includes(type) ? ['True'] : STATES
    if (type === '') required(report, `${at}.type`)
    if (status === '') required(report, `${at}.status`)
    else if (!known.includes(status)) notSupported(report, `${at}.status`, status, known)
    if (conditions.findIndex(one => one.type === type) < index) duplicate(report, `${at}.type`, type)
    const opposite = type === 'Approved' ? 'Denied' : 'Approved'
    if (DECISIONS.slice(0, 2).includes(type) && conditions.slice(0, index).some(one => one.type === opposite)) invalid(report, `${at}.type`, type, 'Approved and Denied conditions are mutually exclusive')
  }
  const wrong = certificate === '' ? undefined : certificatesFinding(text(certificate))
  if (wrong !== undefined) invalid(report, 'status.certificate', '<certificate data>', wrong)
}

/** Decisions stay, and are made through `approval`; the certificate is issued once, through `status`. */
export function validateRequestUpdate (object: CertificateSigningRequest, old: CertificateSigningRequest, subresource: string, report: Report): void {
  const of = ({ status: { conditions = [] } }: CertificateSigningRequest, wanted: string) => conditions.filter(({ type }) => type === wanted)
  for (const type of DECISIONS) {
    const [now, before] = [of(object, type), of(old, type)]
    if (now.length < before.length) forbidden(report, CONDITIONS, `updates may not remove a condition of type "${type}"`)
    else if (type !== 'Failed' && subresource !== 'approval' && !sameValue(now, before)) forbidden(report, CONDITIONS, `updates may not ${now.length > before.length ? 'add' : 'modify'} a condition of type "${type}"`)
  }
  const [certificate, issued] = [object.status.certificate ?? '', old.status.certificate ?? '']
  if (certificate !== issued && issued !== '') forbidden(report, 'status.certificate', 'updates may not modify existing certificate content')
}

/** Who asks is known to the server alone. */
export function prepareRequest ({ spec }: CertificateSigningRequest, user: UserInfo | undefined): void {
  for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field]
  if (user === undefined) return
  if (user.username !== '') spec.username = user.username
  if (user.uid !== '') spec.uid = user.uid
  if (user.groups.length > 0) spec.groups = [...user.groups]
  const extra = Object.entries(user.extra)
  if (extra.length > 0) spec.extra = Object.fromEntries(extra.map(([key, values]) => [key, [...values]]))
}

/** What is asked for stays; conditions tell when they were written. */
export function prepareRequestUpdate (object: CertificateSigningRequest, old: CertificateSigningRequest, subresource: string): void {
  object.spec = old.spec
  if (subresource === '') return
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  for (const condition of object.status.conditions ?? []) {
    const before = old.status.conditions?.find(({ type }) => type === condition.type)
    condition.lastUpdateTime ??= now
    condition.lastTransitionTime ??= before?.status === condition.status ? before.lastTransitionTime ?? now : now
  }
}
