/** What a configuration of authentication must be, beyond its types. */
import { Problem, type Environment } from '../../../expressions/program.js'
import type { Report } from '../../language/declare.js'
import { domainOfPath } from '../../names.js'
import { duplicate, forbidden, invalid, notSupported, required } from '../../rules/findings.js'
import type { AuthenticationConfiguration, ClaimMappings, JwtAuthenticator } from './authentication.js'
import { CLAIMS, USER } from './claim-expressions.js'
import { SYSTEM_DOMAINS } from '../../public-names.js'
import { certificatesProblem } from '../../rules/pem-certificates.js'

const MOST_ISSUERS = 64
const EGRESS = ['controlplane', 'cluster']

export function validateAuthentication (
  { jwt = [], anonymous }: AuthenticationConfiguration, at: string, report: Report
): void {
  if (jwt.length > MOST_ISSUERS) {
    return forbidden(report, `${at}jwt`, `there are ${jwt.length} issuers, and may be ${MOST_ISSUERS}`)
  }
  const seen = { urls: new Set<string>(), documents: new Set<string>() }
  for (const [index, authenticator] of jwt.entries()) {
    const path = `${at}jwt[${index}]`
    checkIssuer(authenticator.issuer, `${path}.issuer`, seen, report)
    checkRules(authenticator, path, report)
    checkMappings(authenticator, `${path}.claimMappings`, report)
  }
  if (anonymous?.enabled === false && (anonymous.conditions?.length ?? 0) > 0) {
    invalid(report, `${at}anonymous.conditions`, anonymous.conditions, 'must be left out unless enabled is true')
  }
  for (const [index, { path }] of (anonymous?.conditions ?? []).entries()) {
    if (path === '') required(report, `${at}anonymous.conditions[${index}].path`)
  }
}

interface Seen { readonly urls: Set<string>, readonly documents: Set<string> }

function checkIssuer (issuer: JwtAuthenticator['issuer'], at: string, { urls, documents }: Seen, report: Report): void {
  const { url, discoveryURL, certificateAuthority = '', audiences = [], audienceMatchPolicy = '' } = issuer
  checkUrl(url, `${at}.url`, report)
  if (urls.has(url)) duplicate(report, `${at}.url`, url)
  urls.add(url)
  if (discoveryURL !== undefined && discoveryURL !== '') {
    checkUrl(discoveryURL, `${at}.discoveryURL`, report)
    const plain = (text: string): string => text.replace(/\/+$/, '')
    if (plain(discoveryURL) === plain(url)) invalid(report, `${at}.discoveryURL`, discoveryURL, 'must not be url')
    if (documents.has(discoveryURL)) duplicate(report, `${at}.discoveryURL`, discoveryURL)
    documents.add(discoveryURL)
  }
  if (certificateAuthority !== '' && certificatesProblem(certificateAuthority) !== undefined) {
    invalid(report, `${at}.certificateAuthority`, '<omitted>', 'must be certificates in PEM')
  }
  if (audiences.length === 0) required(report, `${at}.audiences`, 'at least one audience')
  for (const [index, audience] of audiences.entries()) {
    if (audience === '') required(report, `${at}.audiences[${index}]`)
    if (audiences.indexOf(audience) < index) duplicate(report, `${at}.audiences[${index}]`, audience)
  }
  if (audiences.length > 1 && audienceMatchPolicy !== 'MatchAny') {
    invalid(report, `${at}.audienceMatchPolicy`, audienceMatchPolicy, 'must be MatchAny for several audiences')
  } else if (!['', 'MatchAny'].includes(audienceMatchPolicy)) {
    invalid(report, `${at}.audienceMatchPolicy`, audienceMatchPolicy, 'must be MatchAny, or left out')
  }
  const { egressSelectorType = '' } = issuer
  if (egressSelectorType !== '' && !EGRESS.includes(egressSelectorType)) {
    notSupported(report, `${at}.egressSelectorType`, egressSelectorType, EGRESS)
  }
}

function checkUrl (text: string, at: string, report: Report): void {
  if (text === '') return required(report, at, 'an https URL')
  const { protocol, username, password } = URL.canParse(text)
    ? new URL(text)
    : { protocol: '', username: '', password: '' }
  if (protocol !== 'https:') invalid(report, at, text.replace(/\/\/[^/@]*@/, '//'), 'must be an https URL')
  else if (username !== '' || password !== '') invalid(report, at, '<omitted>', 'must have no user and password')
  else if (/[?#]/.test(text)) invalid(report, at, text, 'must have no query and no fragment')
}

function checkRules (
  { claimValidationRules = [], userValidationRules = [] }: JwtAuthenticator, at: string, report: Report
): void {
  const claims = new Set<string>()
  const expressions = new Set<string>()
  for (const [index, { claim = '', requiredValue = '', expression = '', message = '' }] of claimValidationRules
    .entries()) {
    const path = `${at}.claimValidationRules[${index}]`
    if (claim !== '' && expression !== '') invalid(report, path, claim, 'has a claim or an expression, not both')
    else if (claim === '' && expression === '') required(report, path, 'a claim or an expression')
    else if (claim !== '') {
      if (message !== '') invalid(report, `${path}.message`, message, 'is for expressions only')
      if (claims.has(claim)) duplicate(report, `${path}.claim`, claim)
      claims.add(claim)
    } else {
      if (requiredValue !== '') invalid(report, `${path}.requiredValue`, requiredValue, 'is for claims only')
      checkBool(CLAIMS, expression, `${path}.expression`, expressions, report)
    }
  }
  const ofUser = new Set<string>()
  for (const [index, { expression }] of userValidationRules.entries()) {
    const path = `${at}.userValidationRules[${index}].expression`
    if (expression === '') required(report, path)
    else checkBool(USER, expression, path, ofUser, report)
  }
}

function checkBool (of: Environment, text: string, at: string, seen: Set<string>, report: Report): void {
  if (seen.has(text)) duplicate(report, at, text)
  seen.add(text)
  const type = checkExpression(of, text, at, report)
  if (type !== undefined && type !== 'bool') invalid(report, at, text, 'must evaluate to bool')
}

/** @returns the kind of its result */
function checkExpression (of: Environment, text: string, at: string, report: Report): string | undefined {
  try {
    return of.compile(text).type.kind
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    invalid(report, at, text, `compilation failed: ${error.message}`)
    return undefined
  }
}

type Mapping = ClaimMappings['username'] | NonNullable<ClaimMappings['uid']>

/** @returns whether there is one of both */
function checkMapping (mapping: Mapping, at: string, report: Report): boolean {
  const { claim = '', expression = '' } = mapping
  const prefix = 'prefix' in mapping ? mapping.prefix : undefined
  if (claim !== '' && expression !== '') invalid(report, at, '', 'has a claim or an expression, not both')
  if (expression !== '') {
    if (prefix !== undefined) invalid(report, `${at}.prefix`, prefix, 'is for claims only')
    checkExpression(CLAIMS, expression, `${at}.expression`, report)
  }
  if (claim === '' && expression === '' && prefix !== undefined) {
    invalid(report, `${at}.prefix`, prefix, 'is for claims only')
  }
  return claim !== '' || expression !== ''
}

function checkMappings (authenticator: JwtAuthenticator, at: string, report: Report): void {
  const { username, groups = {}, uid = {}, extra = [] } = authenticator.claimMappings
  if (!checkMapping(username, `${at}.username`, report)) required(report, `${at}.username`, 'a claim or an expression')
  checkMapping(groups, `${at}.groups`, report)
  checkMapping(uid, `${at}.uid`, report)
  for (const [name, { claim = '', prefix }] of [['username', username], ['groups', groups]] as const) {
    if (claim !== '' && prefix === undefined) {
      required(report, `${at}.${name}.prefix`, 'a prefix for the claim, which may be empty')
    }
  }
  const keys = new Set<string>()
  for (const [index, { key, valueExpression }] of extra.entries()) {
    const path = `${at}.extra[${index}]`
    const domain = domainOfPath(key)
    if (key === '') required(report, `${path}.key`)
    else if (domain === undefined) invalid(report, `${path}.key`, key, 'must be a domain, a slash and a path')
    else if (key !== key.toLowerCase()) invalid(report, `${path}.key`, key, 'must be in lower case')
    else if (SYSTEM_DOMAINS.test(domain)) invalid(report, `${path}.key`, key, 'must not be of a domain of the system')
    if (keys.has(key)) duplicate(report, `${path}.key`, key)
    keys.add(key)
    if (valueExpression === '') required(report, `${path}.valueExpression`)
    else checkExpression(CLAIMS, valueExpression, `${path}.valueExpression`, report)
  }
  checkEmail(authenticator, `${at}.username.expression`, report)
}

/** An address names a user only where it is verified, so a rule that uses it must check that. */
function checkEmail (
  { claimMappings: { username, extra = [] }, claimValidationRules = [] }: JwtAuthenticator, at: string, report: Report
): void {
  const { expression = '' } = username
  if (!reads(expression, 'email')) return
  const others = [
    expression, ...extra.map(({ valueExpression }) => valueExpression),
    ...claimValidationRules.map(rule => rule.expression ?? '')
  ]
  if (others.some(text => reads(text, 'email_verified'))) return
  invalid(
    report, at, expression,
    'claims.email_verified must be used in it, in extra or in a rule of claims where claims.email is used'
  )
}

const reads = (expression: string, claim: string): boolean =>
  new RegExp(String.raw`\bclaims\s*(?:\.\s*\??${claim}\b|\[\s*\??\s*["']${claim}["']\s*\])`).test(expression)
