/** Names in paths and queries of requests. Every function is its own inverse. */
import { placesIn } from '../path-places.js'
import { isOwnGroup, SELECTOR_ANNOTATIONS, TAINT_ANNOTATIONS } from './names.js'
import {
  bounded, hasSign, namesOf, translateAllocator, translateComponent, translateGroup, translateKey, translateNamespace,
  type Translation
} from './text.js'

const service = namesOf('', 'services')
/** What labels and annotations say, where that is a name. */
const VALUES: ReadonlyMap<string, Translation> = new Map<string, Translation>([
  ['metadata.name', translateNamespace], ['service-name', service ?? (name => name)]
].flatMap(([name, of]) => [[`kubernetes.io/${name}`, of], [`orch.io/${name}`, of]] as Array<[string, Translation]>)
  .concat(
    ['k8s.io/component', 'orch.io/component', 'apiserver.kubernetes.io/identity', 'apiserver.orch.io/identity']
      .map(key => [key, translateComponent]),
    ['ipaddress.kubernetes.io/managed-by', 'ipaddress.orch.io/managed-by'].map(key => [key, translateAllocator])
  ))

/** In linear time: clients choose the text. */
const REQUIREMENT = /^(\s*(?:!\s*)?)([^\s!=<>()]+)([^]*)$/
const WORD = /[^\s=!,()]+/g

/** Requirements of a label selector with the commas between them, which are outside of parentheses. */
function requirements (selector: string): string[] {
  const parts: string[] = []
  let from = 0
  let inside = false
  for (let at = 0; at < selector.length; at++) {
    const char = selector[at]
    if (char === '(') inside = true
    else if (char === ')') inside = false
    else if (char === ',' && !inside) {
      parts.push(selector.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, selector.slice(from)]
}

/** More than the headers of a request may have. */
const MAX_SELECTOR = 32 * 1024

/** A label selector: its keys, and the values of keys that say a name. What is malformed stays so. */
export const translateLabelSelector = bounded(MAX_SELECTOR, selector =>
  requirements(selector).map(requirement => requirement.replace(REQUIREMENT, translateRequirement)).join(','))

function translateRequirement (_whole: string, before: string, key: string, rest: string): string {
  const value = VALUES.get(key)
  const named = (word: string): string => word === 'in' || word === 'notin' ? word : value?.(word) ?? word
  return before + translateKey(key) + (value === undefined ? rest : rest.replace(WORD, named))
}

/** Tolerations or taints as JSON. */
const TAINT_KEY = /(?<="key"\s{0,9}:\s{0,9}")[^"\\]+(?=")/g
const translateTaints = bounded(MAX_SELECTOR, json => json.replace(TAINT_KEY, translateKey))

const inAnnotations = (keys: readonly string[], of: Translation): Array<[string, Translation]> =>
  keys.flatMap(key => [[key, of], [translateKey(key), of]])
const VALUES_OF_ANNOTATIONS: ReadonlyMap<string, Translation> = new Map([
  ...inAnnotations(SELECTOR_ANNOTATIONS, translateLabelSelector), ...inAnnotations(TAINT_ANNOTATIONS, translateTaints)
])

/** What translates the value of a label or annotation; undefined for the client's own text. */
export const valueOfKey = (key: string): Translation | undefined => VALUES.get(key) ?? VALUES_OF_ANNOTATIONS.get(key)

/** Fields that are names in objects too; the objects, sources and reasons of events are reported as they were. */
const FIELDS: ReadonlyMap<string, Translation> = new Map([
  ['metadata.namespace', translateNamespace],
  ['involvedObject.namespace', translateNamespace], ['involvedObject.apiVersion', translateGroup],
  ['regarding.namespace', translateNamespace], ['regarding.apiVersion', translateGroup],
  ['spec.signerName', translateKey], ['type', translateKey]
])

/** What translates the value of a selectable field; undefined where it is no name. */
export const valueOfField = (field: string): Translation | undefined => FIELDS.get(field)

/**
 * A field selector: the values of fields that are names, unless they have escapes, which no name needs. @param names
 * of the listed type
 */
export const translateFieldSelector = (selector: string, names?: Translation): string => selector.includes('\\')
  ? selector
  : selector.split(',').map(requirement => {
      const at = requirement.indexOf('=')
      if (at < 0) return requirement
      const value = at + (requirement[at + 1] === '=' ? 2 : 1)
      const field = requirement.slice(0, at).replace(/!$/, '').trim()
      const of = field === 'metadata.name' ? names : FIELDS.get(field)
      return of === undefined ? requirement : requirement.slice(0, value) + of(requirement.slice(value))
    }).join(',')

/** `metadata.labels['KEY']`. */
export const translateFieldPath = (path: string): string =>
  path.replace(/\['([^']*)'\]/, (_whole, key: string) => `['${translateKey(key)}']`)

/** The name of a service in certificates. */
export const publicHost = ({ name, namespace }: { readonly name: string, readonly namespace: string }): string =>
  `${service?.(name) ?? name}.${translateNamespace(namespace)}.svc`

/**
 * The group in the path of an API, and names of namespaces and objects in it; not of types and subresources, which
 * definitions choose.
 */
export function translatePath (path: string): string {
  if (!hasSign(path)) return path
  const parts = path.split('/')
  const openapi = parts[1] === 'openapi' ? parts.splice(1, 2) : []
  const places = placesIn(parts)
  const translate = (at: number, of: Translation | undefined): void => {
    const before = parts[at]
    if (before !== undefined && of !== undefined) parts[at] = of(before)
  }
  const names = namesIn(parts, places)
  if (parts[1] === 'apis') translate(2, translateGroup)
  if (places !== undefined) {
    if (places.namespace !== places.name) translate(places.namespace, translateNamespace)
    translate(places.name, names)
  }
  parts.splice(1, 0, ...openapi)
  return parts.join('/')
}

/** The names of the type that a path lists. */
function namesIn (parts: readonly string[], places = placesIn(parts)): Translation | undefined {
  return places === undefined ? undefined : namesOf(parts[places.group] ?? '', parts[places.resource] ?? '')
}

/** A path in a rule, where a trailing `*` stands for any rest. */
export const translatePattern: Translation = pattern =>
  pattern.endsWith('*') ? `${translatePath(pattern.slice(0, -1))}*` : translatePath(pattern)

/** What is malformed is refused elsewhere. */
function decoded (path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The selectors of a query. @param path of the request, under either names */
export function translateQuery (query: string, path: string): string {
  if (!query.includes('Selector') && !query.includes('%')) return query // names of parameters may be percent-encoded
  return new URLSearchParams([...new URLSearchParams(query)].map(([name, value]): [string, string] => {
    if (name === 'labelSelector') return [name, translateLabelSelector(value)]
    return [name, name === 'fieldSelector' ? translateFieldSelector(value, namesIn(decoded(path).split('/'))) : value]
  })).toString()
}

interface MediaTypes { readonly accept?: string | undefined, readonly 'content-type'?: string | undefined }

const OF_GROUP = /^(?:\/openapi\/v3)?\/apis\/([^/]+)/

/**
 * Whether a request uses the public project's names: all but those to a path with our name of a group, and those that
 * name one of our own media types.
 * @param path of the URL, as sent
 */
export function usesPublicNames (path: string, { accept, 'content-type': type }: MediaTypes): boolean {
  return !asksForOwnTypes(accept) && !asksForOwnTypes(type) && !isOwnGroup(OF_GROUP.exec(path)?.[1] ?? '')
}

const asksForOwnTypes = (header: string | undefined): boolean => header?.includes('/vnd.orch.') === true
