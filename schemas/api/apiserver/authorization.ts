/** Who may, from a file: authorizers in the order in which they decide, among them any number of webhooks. */
import { apiPackage, bool, list, one, string, type Message, type Report, type Static } from '../../language/declare.js'
import { parseDuration } from '../../meta/duration.js'
import { Duration } from '../../meta/scalars.js'
import { dnsSubdomain } from '../../names.js'
import { checkName, duplicate, forbidden, invalid, notSupported, required } from '../../rules/findings.js'
import { conditionProblem } from './match-conditions.js'

export const AUTHORIZER_TYPES = ['Webhook', 'AlwaysAllow', 'AlwaysDeny', 'ABAC', 'RBAC', 'Node'] as const
const MOST_TIMEOUT_MS = 30_000
const MOST_CONDITIONS = 64

function declare (version: 'v1' | 'v1beta1' | 'v1alpha1') {
  const { message, kind } = apiPackage('apiserver.config.orch.io', version, `io.orch.apiserver.config.${version}`)
  const ConnectionInfo = message('WebhookConnectionInfo', 'Where the webhook is.', {
    type: string(null, 'KubeConfigFile.', { required: true }),
    kubeConfigFile: string(null, 'Path of a file in the form of kubectl.', { written: true, pointer: true })
  })
  const WebhookConfiguration = message('WebhookConfiguration', 'A webhook that reviews access.', {
    authorizedTTL: one(null, 'How long to keep an answer that allows.', Duration, { required: true, default: '5m0s' }),
    cacheAuthorizedRequests: bool(null, 'Whether to keep answers that allow.', { pointer: true, default: true }),
    unauthorizedTTL: one(null, 'How long to keep any other answer.', Duration, { required: true, default: '30s' }),
    cacheUnauthorizedRequests: bool(null, 'Whether to keep any other answer.', { pointer: true, default: true }),
    timeout: one(null, 'Of a call, at most 30 s.', Duration, { required: true }),
    subjectAccessReviewVersion: string(null, 'Version of the reviews: v1 or v1beta1.', { required: true }),
    matchConditionSubjectAccessReviewVersion: string(null, 'Version that conditions read: v1; required with them.', {
      required: true, mayBeEmpty: true
    }),
    failurePolicy: string(null, 'What a failing webhook means: NoOpinion or Deny.', { required: true }),
    connectionInfo: one(null, 'Where the webhook is.', ConnectionInfo, { required: true }),
    matchConditions: list(
      null, 'Expressions over request; the webhook is asked only where all are true.',
      message('WebhookMatchCondition', 'A condition.', {
        expression: string(null, 'The expression.', { required: true })
      }), { required: true }
    )
  })
  const AuthorizerConfiguration = message('AuthorizerConfiguration', 'An authorizer.', {
    type: string(null, 'Its type.', { required: true }),
    name: string(null, 'Its name, in metrics and logs; that of the type in lower case but for webhooks.', {
      required: true
    }),
    webhook: one(null, 'Settings of a webhook.', WebhookConfiguration, { pointer: true })
  })
  return kind('AuthorizationConfiguration', 'Who may.', {
    authorizers: list(null, 'Authorizers in the order in which they decide.', AuthorizerConfiguration, {
      required: true
    })
  }, {
    validate: ({ authorizers = [] }, at, report) => {
      validateAuthorizers(authorizers, at === '' ? 'authorizers' : `${at}.authorizers`, report)
    }
  })
}

const stable = declare('v1')
export type AuthorizationConfiguration = Static<typeof stable>
export type AuthorizerConfiguration = NonNullable<AuthorizationConfiguration['authorizers']>[number]
export type AuthorizationWebhook = NonNullable<AuthorizerConfiguration['webhook']>

/** One for each version. */
export const AUTHORIZATION_CONFIGURATIONS: ReadonlyArray<Message<AuthorizationConfiguration>> =
  [stable, declare('v1beta1') as typeof stable, declare('v1alpha1') as typeof stable]

function validateAuthorizers (authorizers: readonly AuthorizerConfiguration[], at: string, report: Report): void {
  if (authorizers.length === 0) return required(report, at, 'at least one authorizer')
  const [types, names] = [new Set<string>(), new Set<string>()]
  for (const [index, { type, name, webhook }] of authorizers.entries()) {
    const path = `${at}[${index}]`
    if (type === '') required(report, `${path}.type`)
    else if (!AUTHORIZER_TYPES.some(known => known === type)) {
      notSupported(report, `${path}.type`, type, AUTHORIZER_TYPES)
    } else if (type !== 'Webhook' && types.has(type)) duplicate(report, `${path}.type`, type)
    types.add(type)
    if (name === '') required(report, `${path}.name`)
    else if (names.has(name)) duplicate(report, `${path}.name`, name)
    else if (type === 'Webhook') checkName(report, `${path}.name`, name, dnsSubdomain)
    else if (name !== type.toLowerCase()) invalid(report, `${path}.name`, name, `must be ${type.toLowerCase()}`)
    names.add(name)
    if (type === 'Webhook') {
      if (webhook === undefined) required(report, `${path}.webhook`, 'settings of the webhook')
      else validateWebhook(webhook, `${path}.webhook`, report)
    } else if (webhook !== undefined) forbidden(report, `${path}.webhook`, 'is for the type Webhook only')
  }
}

function validateWebhook (webhook: AuthorizationWebhook, at: string, report: Report): void {
  const timeout = parseDuration(webhook.timeout ?? '') ?? 0n
  if (timeout <= 0n || timeout > BigInt(MOST_TIMEOUT_MS) * 1_000_000n) {
    invalid(report, `${at}.timeout`, webhook.timeout, 'must be more than 0 and at most 30s')
  }
  for (const name of ['authorizedTTL', 'unauthorizedTTL'] as const) {
    if ((parseDuration(webhook[name] ?? '') ?? 0n) < 0n) {
      invalid(report, `${at}.${name}`, webhook[name], 'must not be negative')
    }
  }
  const among = (name: keyof AuthorizationWebhook, known: readonly string[]): void => {
    const value = String(webhook[name] ?? '')
    if (value === '') required(report, `${at}.${name}`)
    else if (!known.includes(value)) notSupported(report, `${at}.${name}`, value, known)
  }
  among('subjectAccessReviewVersion', ['v1', 'v1beta1'])
  among('failurePolicy', ['NoOpinion', 'Deny'])
  const { matchConditions = [], connectionInfo } = webhook
  if (matchConditions.length > 0 || webhook.matchConditionSubjectAccessReviewVersion !== '') {
    among('matchConditionSubjectAccessReviewVersion', ['v1'])
  }
  validateConnection(connectionInfo, `${at}.connectionInfo`, report)
  if (matchConditions.length > MOST_CONDITIONS) {
    return forbidden(
      report, `${at}.matchConditions`, `there are ${matchConditions.length}, and may be ${MOST_CONDITIONS}`
    )
  }
  const seen = new Set<string>()
  for (const [index, { expression }] of matchConditions.entries()) {
    const path = `${at}.matchConditions[${index}].expression`
    const problem = expression === '' ? undefined : conditionProblem(expression)
    if (expression === '') required(report, path)
    else if (seen.has(expression)) duplicate(report, path, expression)
    else if (problem !== undefined) invalid(report, path, expression, problem)
    seen.add(expression)
  }
}

function validateConnection (
  { type, kubeConfigFile }: AuthorizationWebhook['connectionInfo'], at: string, report: Report
): void {
  if (type === '') return required(report, `${at}.type`)
  if (type === 'InClusterConfig') {
    // upstream accepts it, and can not use it either
    return invalid(report, `${at}.type`, type, 'is of no use in this server, which is in no cluster: name a kubeconfig')
  }
  if (type !== 'KubeConfigFile') return notSupported(report, `${at}.type`, type, ['KubeConfigFile'])
  if (kubeConfigFile === undefined || kubeConfigFile === '') required(report, `${at}.kubeConfigFile`)
  else if (!kubeConfigFile.startsWith('/')) {
    invalid(report, `${at}.kubeConfigFile`, kubeConfigFile, 'must be an absolute path')
  }
}
