/**
 * ABAC: policies from a file, one JSON object per line. Requests that no policy allows get NoOpinion.
 *
 * @see interface, 'Authorization flags', --authorization-policy-file
 */
import type { Authorizer, Ruling } from './authorizer.js'
import type { RequestInfo } from './request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { isObject } from '../schemas/language/values.js'

const API_VERSION = 'abac.authorization.orch.io/v1beta1'
const ANY = '*'
const AUTHENTICATED = 'system:authenticated'

interface Policy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const TEXTS = ['user', 'group', 'apiGroup', 'resource', 'namespace', 'nonResourcePath'] as const
const KNOWN = new Set<string>([...TEXTS, 'readonly'])

/** @throws Error that describes the error in the line */
function parseLine (line: string): Policy {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    throw new Error('is no JSON') // the parser's message would quote the line
  }
  if (!isObject(parsed)) throw new Error('is no object')
  const { apiVersion, kind, spec } = parsed
  if (apiVersion !== API_VERSION || kind !== 'Policy') throw new Error(`is no Policy of ${API_VERSION}`)
  if (!isObject(spec)) throw new Error('has no spec')
  for (const [name, value] of Object.entries(spec)) {
    if (!KNOWN.has(name)) throw new Error(`spec.${name} is no property of a policy`)
    if (name === 'readonly' ? typeof value !== 'boolean' : typeof value !== 'string') {
      throw new Error(`spec.${name} must be ${name === 'readonly' ? 'true or false' : 'a string'}`)
    }
  }
  const text = (name: typeof TEXTS[number]): string => (spec[name] ?? '') as string // checked above
  const matchesAny = text('user') === ANY || text('group') === ANY
  return {
    // `*` means every authenticated user, as user or as group.
    user: matchesAny ? '' : text('user'),
    group: matchesAny ? AUTHENTICATED : text('group'),
    readonly: spec['readonly'] === true,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath')
  }
}

/** Skips blank lines and lines that begin with #. @throws Error with the line number */
export function parsePolicies (content: string): Policy[] {
  return content.split('\n').flatMap((line, index) => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    try {
      return [parseLine(trimmed)]
    } catch (error) {
      throw new Error(`line ${index + 1} ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  })
}

function appliesTo ({ user, group }: Policy, { username, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === username) && (group === '' || groups.includes(group))
}

const READ_ONLY = new Set(['get', 'list', 'watch'])
const matchesPattern = (pattern: string, value: string): boolean => pattern === ANY || pattern === value

function allows (policy: Policy, info: RequestInfo): boolean {
  if (policy.readonly && !READ_ONLY.has(info.verb)) return false
  if (info.isResourceRequest) {
    return matchesPattern(policy.namespace, info.namespace) && matchesPattern(policy.resource, info.resource) &&
      matchesPattern(policy.apiGroup, info.group)
  }
  const { nonResourcePath } = policy
  return matchesPattern(nonResourcePath, info.path) ||
    (nonResourcePath.endsWith(ANY) && info.path.startsWith(nonResourcePath.slice(0, -1)))
}

const ALLOW: Ruling = { decision: 'Allow' }
const NO_POLICY: Ruling = { decision: 'NoOpinion', reason: 'No policy matched.' }

/** @throws Error as `parsePolicies` */
export function abacAuthorizer (content: string): Authorizer {
  const policies = parsePolicies(content)
  return {
    name: 'ABAC',
    authorize: ({ user, info }) =>
      policies.some(policy => appliesTo(policy, user) && allows(policy, info)) ? ALLOW : NO_POLICY,
    rules: (user, namespace) => {
      const own = policies
        .filter(policy => appliesTo(policy, user) && matchesPattern(policy.namespace, namespace))
      const verbs = ({ readonly }: Policy): string[] => readonly ? [...READ_ONLY] : [ANY]
      return {
        resourceRules: own.filter(({ resource }) => resource !== '')
          .map(policy => ({ verbs: verbs(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
        nonResourceRules: own.filter(({ nonResourcePath }) => nonResourcePath !== '')
          .map(policy => ({ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] })),
        incomplete: false
      }
    }
  }
}
