/** Names in text: whole names, selectors, URLs, and sentences that this server wrote. Every function is its own inverse. */
import { BEGINNINGS, DOMAIN_ENDS, DOMAINS, GROUPS, isOwnGroup, NAMING_KEYS, SYSTEM_USERS, WHOLE } from './names.js'

const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/
const ACCOUNT = 'system:serviceaccount:'
const ACCOUNTS = 'system:serviceaccounts:'
const COUNT = 'count/'
/** Of quota: `CLASS.storageclass.storage.k8s.io/requests.storage`. */
const CLASS_QUOTA = /^(.+\.storageclass\.storage\.)(k8s|orch)(\.io\/.+)$/

/** Longer text is no name, and clients choose it. */
const MAX_TEXT = 2000
/** Every name, ours or public, has one of these. */
export const SIGNS = ['orch', 'k8s.io', 'kube', 'node-agent'] as const
const SIGN = /orch|k8s\.io|kube|node-agent/
export const hasSign = (text: string): boolean => SIGN.test(text)

/** Translates text of bounded length; what would exceed the bound stays, so that translating back gives the same text. */
export const bounded = (max: number, of: (text: string) => string) => (text: string): string => {
  if (text.length > max) return text
  const other = of(text)
  return other.length > max ? text : other
}

/** The other name of what a whole text names: a group or group version, key, namespace, user, or an object that the server makes. */
export const translate = bounded(MAX_TEXT, text => hasSign(text) ? exchanged(text) : text)

function exchanged (text: string): string {
  const whole = WHOLE.get(text)
  if (whole !== undefined) return whole
  const slash = text.indexOf('/')
  if (slash > 0) return translateKey(text, slash)
  if (text.startsWith(ACCOUNT)) return ACCOUNT + translateParts(text.slice(ACCOUNT.length))
  if (text.startsWith(ACCOUNTS)) return ACCOUNTS + translateParts(text.slice(ACCOUNTS.length))
  return text.startsWith('system:') ? text : translateParts(text)
}

/** A proxied service has three: `https:NAME:PORT`. */
const MAX_PARTS = 3

/** Names of objects, with colons between them. */
function translateParts (text: string): string {
  if (!text.includes(':')) return translateName(text)
  const parts = text.split(':', MAX_PARTS + 1)
  return parts.length > MAX_PARTS ? text : parts.map(translateName).join(':')
}

function translateName (text: string): string {
  const whole = WHOLE.get(text)
  if (whole !== undefined) return whole
  for (const [beginning, other] of BEGINNINGS) if (text.startsWith(beginning)) return other + text.slice(beginning.length)
  const dot = text.indexOf('.')
  return dot > 0 && VERSION.test(text.slice(0, dot)) ? withGroup(text, dot) : text
}

/** With a slash: `GROUP/VERSION`, `DOMAIN/NAME`, `count/RESOURCE.GROUP`. */
function translateKey (text: string, slash: number): string {
  const before = text.slice(0, slash)
  const group = GROUPS.get(before)
  if (group !== undefined) return VERSION.test(text.slice(slash + 1)) ? group + text.slice(slash) : text
  const domain = DOMAINS.get(before)
  if (domain !== undefined) return domain + text.slice(slash)
  for (const [end, other] of DOMAIN_ENDS) if (before.endsWith(end)) return before.slice(0, -end.length) + other + text.slice(slash)
  if (text.startsWith(COUNT)) return COUNT + withGroup(text.slice(COUNT.length), text.indexOf('.') - COUNT.length)
  const quota = CLASS_QUOTA.exec(text)
  return quota === null ? text : `${quota[1]}${quota[2] === 'k8s' ? 'orch' : 'k8s'}${quota[3]}`
}

/** The group that follows a dot. */
function withGroup (text: string, dot: number): string {
  const group = dot < 1 ? undefined : GROUPS.get(text.slice(dot + 1))
  return group === undefined ? text : text.slice(0, dot + 1) + group
}

/**
 * Our name of a user or group that others authenticate. They come under public names, as in bindings and headers of clients, and each has one
 * partner; those of the system may come under ours as well.
 */
export const ownUser = (name: string): string => name.startsWith('system:') ? SYSTEM_USERS.get(name) ?? name : translate(name)

/** A key of labels, annotations and the like. */
export const isNamingKey = (key: string): boolean => NAMING_KEYS.has(key)

/** In linear time: clients choose the text. */
const REQUIREMENT = /^(\s*(?:!\s*)?)([^\s!=<>()]+)([^]*)$/
const WORD = /[^\s=!,()]+/g

/** Requirements of a label selector with the commas between them, which are outside of parentheses. */
function requirements (selector: string): string[] {
  const found: string[] = []
  let from = 0
  let inside = false
  for (let at = 0; at < selector.length; at++) {
    const char = selector[at]
    if (char === '(') inside = true
    else if (char === ')') inside = false
    else if (char === ',' && !inside) {
      found.push(selector.slice(from, at))
      from = at + 1
    }
  }
  return [...found, selector.slice(from)]
}

/** More than the headers of a request may have. */
const MAX_SELECTOR = 32 * 1024

/** A label selector: its keys, and the values of keys that say a name. What is malformed stays so. */
export const translateLabelSelector = bounded(MAX_SELECTOR, selector => requirements(selector).map(requirement => requirement.replace(REQUIREMENT, (_whole, before: string, key: string, rest: string) =>
  before + translate(key) + (isNamingKey(key) ? rest.replace(WORD, word => word === 'in' || word === 'notin' ? word : translate(word)) : rest))).join(','))

/** Fields that are names in objects too; the source or reason of an event is not. */
const NAMING_FIELD = /^(?:(?:metadata|involvedObject|regarding)\.(?:name|namespace|apiVersion)|spec\.(?:host|nodeName|serviceAccountName|signerName)|status\.nominatedNodeName|type)$/

/** A field selector: the values of fields that are names, unless they have escapes, which no name needs. */
export const translateFieldSelector = (selector: string): string => selector.includes('\\')
  ? selector
  : selector.split(',').map(requirement => {
    const at = requirement.indexOf('=')
    const value = at + (requirement[at + 1] === '=' ? 2 : 1)
    return at < 0 || !NAMING_FIELD.test(requirement.slice(0, at).replace(/!$/, '').trim()) ? requirement : requirement.slice(0, value) + translate(requirement.slice(value))
  }).join(',')

/** `metadata.labels['KEY']`. */
export const translateFieldPath = (path: string): string => path.replace(/\['([^']*)'\]/, (_whole, key: string) => `['${translate(key)}']`)

/** The group in the path of an API, and names of namespaces and objects in it; not of types and subresources, which definitions choose. */
export function translatePath (path: string): string {
  if (!path.startsWith('/api') && !path.startsWith('/openapi/v3/api')) return path
  const parts = path.split('/')
  const api = parts[1] === 'openapi' ? 3 : 1
  let type = parts[api] === 'api' ? api + 2 : api + 3
  if (parts[type] === 'watch' && parts.length > type + 1) type++
  if (parts[type] === 'namespaces' && parts.length > type + 2) {
    parts[type + 1] = translate(parts[type + 1] as string)
    type += 2
  }
  for (const at of [api + 1, type + 1]) if (parts[at] !== undefined) parts[at] = translate(parts[at])
  return parts.join('/')
}

/** Longer words are no names. */
const MAX_NAME = 500

/** Words of the server: our names in them become public ones. It repeats public names only from a client's own text. `orch` is a name only in quotation marks. */
export const publicWords = (text: string): string =>
  text.replaceAll('"orch"', '"kubernetes"').replaceAll('/vnd.orch.', '/vnd.kubernetes.').replace(/[\w.:/-]+/g, word => word.length <= MAX_NAME && (word.includes('orch') || word.includes('node-agent')) ? publicWord(word) : word)

/** A name, or one that follows a path or a resource and a dot: `.metadata.labels.orch.io/os`, `roles.rbac.authorization.orch.io`. */
function publicWord (word: string): string {
  if (word === 'orch') return word
  const end = word.length - (/[.:]+$/.exec(word)?.[0].length ?? 0)
  for (let at = 0; at < end; at++) {
    if (at > 0 && word[at - 1] !== '.') continue
    const name = word.slice(at, end)
    const other = name.startsWith('x-orch-') ? name.replace('x-orch-', 'x-kubernetes-') : translate(name)
    if (other !== name) return word.slice(0, at) + other + word.slice(end)
  }
  return word
}

/** The selectors of a query. */
export function translateQuery (query: string): string {
  if (!query.includes('Selector') && !query.includes('%')) return query // names of parameters may be percent-encoded
  return new URLSearchParams([...new URLSearchParams(query)].map(([name, value]): [string, string] => [name, name === 'labelSelector' ? translateLabelSelector(value) : name === 'fieldSelector' ? translateFieldSelector(value) : value])).toString()
}

const OF_GROUP = /^(?:\/openapi\/v3)?\/apis\/([^/]+)/

/**
 * Whether a request uses the public project's names: all but those to a path with our name of a group, and those that name one of our own media types.
 * @param path of the URL, as sent
 */
export function usesPublicNames (path: string, { accept, 'content-type': type }: { readonly accept?: string | undefined, readonly 'content-type'?: string | undefined }): boolean {
  return !asksForOwnTypes(accept) && !asksForOwnTypes(type) && !isOwnGroup(OF_GROUP.exec(path)?.[1] ?? '')
}

const asksForOwnTypes = (header: string | undefined): boolean => header?.includes('/vnd.orch.') === true
