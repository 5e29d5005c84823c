/** Validation of admission webhooks, and of the client config of every webhook. */
import type { Report } from '../../../language/types.js'
import { dns1035Label, dnsSubdomain } from '../../../names.js'
import { duplicate, invalid, checkName, notSupported, required } from '../../../rules/findings.js'
import { withoutUrlSecrets } from '../../../quote.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import type { Steps } from '../../../steps.js'
import { WEBHOOK_CONDITIONS } from '../policy-expressions.js'
import type { MutatingWebhook, RuleWithOperations, ValidatingWebhook, WebhookClientConfig } from '../webhooks.js'
import { validateConditions } from './expressions.js'

/** Supported versions of admission and conversion reviews. */
export const REVIEWS = ['v1', 'v1beta1']
const HARMLESS = ['None', 'NoneOnDryRun']
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const MAX_SECONDS = 30
const ALL = '*'

export function validateNames (webhooks: ReadonlyArray<MutatingWebhook | ValidatingWebhook>, report: Report): void {
  const names = new Set<string>()
  for (const [index, { name }] of webhooks.entries()) {
    if (name !== '' && names.has(name)) duplicate(report, `webhooks[${index}].name`, name)
    names.add(name)
  }
}

/** In steps: it compiles every condition. */
export function * validateConditionsOf (
  { webhooks = [] }: { readonly webhooks?: ReadonlyArray<MutatingWebhook | ValidatingWebhook> | undefined },
  report: Report
): Steps<void> {
  for (const [index, { matchConditions = [] }] of webhooks.entries()) {
    yield * validateConditions(matchConditions, WEBHOOK_CONDITIONS, `webhooks[${index}].matchConditions`, report)
  }
}

export function validateWebhook (webhook: MutatingWebhook | ValidatingWebhook, at: string, report: Report): void {
  const {
    name, rules = [], sideEffects, timeoutSeconds, namespaceSelector, objectSelector, clientConfig,
    admissionReviewVersions: versions = []
  } = webhook
  if (name !== '') {
    const wrong = dnsSubdomain(name)
    if (wrong.length > 0) invalid(report, `${at}.name`, name, wrong.join(','))
    else if (name.split('.').length < 3) {
      invalid(report, `${at}.name`, name, 'should be a domain with at least three segments separated by dots')
    }
  }
  for (const [index, rule] of rules.entries()) validateRule(rule, `${at}.rules[${index}]`, report)
  if (sideEffects !== undefined && !HARMLESS.includes(sideEffects)) {
    notSupported(report, `${at}.sideEffects`, sideEffects, HARMLESS)
  }
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > MAX_SECONDS)) {
    invalid(
      report, `${at}.timeoutSeconds`, timeoutSeconds, `the timeout value must be between 1 and ${MAX_SECONDS} seconds`
    )
  }
  if (namespaceSelector !== undefined) validateLabelSelector(namespaceSelector, `${at}.namespaceSelector`, report)
  if (objectSelector !== undefined) validateLabelSelector(objectSelector, `${at}.objectSelector`, report)
  validateClientConfig(clientConfig, `${at}.clientConfig`, report)
  validateReviewVersions(versions, `${at}.admissionReviewVersions`, report)
}

/**
 * Validates the review versions of an admission or conversion webhook.
 * @param known whether a supported version is required; false if the stored object has none
 */
export function validateReviewVersions (versions: readonly string[], at: string, report: Report, known = true): void {
  if (versions.length === 0) return required(report, at, `must specify one of ${REVIEWS.join(', ')}`)
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) invalid(report, `${at}[${index}]`, version, 'duplicate version')
    else checkName(report, `${at}[${index}]`, version, dns1035Label)
    seen.add(version)
  }
  if (known && !versions.some(version => REVIEWS.includes(version))) {
    invalid(report, at, versions, `must include at least one of ${REVIEWS.join(', ')}`)
  }
}

/** At least one entry; `*` excludes others. */
function validateList (list: readonly string[], what: string, at: string, report: Report): void {
  if (list.length === 0) required(report, at)
  if (list.length > 1 && list.includes(ALL)) {
    invalid(report, at, list, `if '*' is present, must not specify other ${what}`)
  }
}

export function validateRule (
  { operations = [], apiGroups = [], apiVersions = [], resources = [] }: RuleWithOperations, at: string, report: Report
): void {
  validateList(operations, 'operations', `${at}.operations`, report)
  for (const [index, operation] of operations.entries()) {
    if (!OPERATIONS.includes(operation)) notSupported(report, `${at}.operations[${index}]`, operation, OPERATIONS)
  }
  validateList(apiGroups, 'API groups', `${at}.apiGroups`, report)
  validateList(apiVersions, 'API versions', `${at}.apiVersions`, report)
  for (const [index, version] of apiVersions.entries()) {
    if (version === '') required(report, `${at}.apiVersions[${index}]`)
  }
  validateResources(resources, `${at}.resources`, report)
}

/**
 * A wildcard excludes later entries that it covers. As upstream, `*` may follow other resources but not precede them.
 */
function validateResources (resources: readonly string[], at: string, report: Report): void {
  if (resources.length === 0) required(report, at)
  const before = new Set<string>()
  for (const [index, resource] of resources.entries()) {
    const slash = resource.indexOf('/')
    if (resource === '') required(report, `${at}[${index}]`)
    if (slash < 0) continue
    const [all, any] = [`${resource.slice(0, slash)}/*`, `*${resource.slice(slash)}`]
    for (const wildcard of [all, any]) {
      if (before.has(wildcard)) {
        invalid(report, `${at}[${index}]`, resource, `if '${wildcard}' is present, must not specify ${resource}`)
      }
    }
    before.add(resource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    invalid(report, at, resources, "if '*/*' is present, must not specify other resources")
  }
  const last = resources.filter(resource => resource !== '' && !resource.includes('/')).at(-1)
  if (resources.includes(ALL) && last !== ALL) {
    invalid(report, at, resources, "if '*' is present, must not specify other resources without subresources")
  }
}

export function validateClientConfig (
  { url, service }: Pick<WebhookClientConfig, 'url' | 'service'>, at: string, report: Report
): void {
  if ((url === undefined) === (service === undefined)) {
    return required(report, at, 'exactly one of url or service is required')
  }
  if (url !== undefined) validateUrl(url, `${at}.url`, report)
  if (service === undefined) return
  for (const field of ['name', 'namespace'] as const) {
    if (service[field] === '') required(report, `${at}.service.${field}`, `service ${field} is required`)
  }
  if (service.port !== undefined && (service.port < 1 || service.port > 65535)) {
    invalid(report, `${at}.service.port`, service.port, 'port is not valid: must be between 1 and 65535, inclusive')
  }
  if (service.path !== undefined) validatePath(service.path, `${at}.service.path`, report)
}

/** Captures scheme, authority, query and fragment, even malformed ones. */
const PARTS = /^(?:([a-z][\w+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/i
const FORM = '; desired format: https://host[/path]'

function validateUrl (text: string, at: string, report: Report): void {
  const [whole, scheme = '', authority = '', query = '', fragment = ''] = PARTS.exec(text) ?? []
  const end = authority.lastIndexOf('@')
  const host = authority.slice(end + 1)
  const isHttps = scheme.toLowerCase() === 'https'
  if (whole === undefined || text.startsWith(':') || (isHttps && host !== '' && !URL.canParse(text))) {
    return required(report, at, `url must be a valid URL: parse ${JSON.stringify(text)}${FORM}`)
  }
  if (!isHttps) invalid(report, at, scheme, `'https' is the only allowed URL scheme${FORM}`)
  if (host === '') invalid(report, at, host, `host must be specified${FORM}`)
  if (end >= 0) {
    const user = authority.slice(0, end).replace(/:.*/, ':…')
    invalid(report, at, user, 'user information is not permitted in the URL')
  }
  if (fragment !== '') invalid(report, at, fragment, 'fragments are not permitted in the URL')
  if (query !== '') {
    invalid(report, at, withoutUrlSecrets(`?${query}`).slice(1), 'query parameters are not permitted in the URL')
  }
}

function validatePath (path: string, at: string, report: Report): void {
  if (path === '' || path === '/') return
  if (path === '//') return invalid(report, at, path, 'segment[0] may not be empty')
  if (!path.startsWith('/')) invalid(report, at, path, "must start with a '/'")
  const steps = path.slice(1).split('/')
  const trailing = steps.at(-1) === '' ? steps.slice(0, -1) : steps
  for (const [index, step] of trailing.entries()) {
    if (step === '') invalid(report, at, path, `segment[${index}] may not be empty`)
    else for (const detail of dnsSubdomain(step)) invalid(report, at, path, `segment[${index}]: ${detail}`)
  }
}
