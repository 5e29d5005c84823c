/** Names in the public project's spelling and ours. Every function is its own inverse. */
import {
  ALLOCATORS, bothWays, COMPONENTS, DOMAIN_ENDS, DOMAINS, GROUPS, isOwnGroup, KEY_NAMES, KINDS, type KindNames,
  MOUNT_PATHS, NAMESPACE_FINALIZERS, NAMESPACE_NAMES, SYSTEM_USERS, USER_NAMES, VOLUMES
} from './names.js'

export type Translation = (text: string) => string

const VERSION = /^v\d+(?:(?:alpha|beta)\d+)?$/
const ACCOUNT = 'system:serviceaccount:'
const ACCOUNTS = 'system:serviceaccounts:'
const COUNT = 'count/'
/** Of quota: `CLASS.storageclass.storage.k8s.io/requests.storage`, `CLASS.deviceclass.resource.k8s.io/devices`. */
const CLASS_QUOTA = /^(.+\.(?:storageclass\.storage|deviceclass\.resource)\.)(k8s|orch)(\.io\/.+)$/
const EXTRAS = 'userextras/'

/** Longer text is no name, and clients choose it. */
const MAX_TEXT = 2000
/** Every name, ours or public, has one of these. */
export const SIGNS = ['orch', 'k8s.io', 'kube', '-agent'] as const
const SIGN = /orch|k8s\.io|kube|node-agent/
export const hasSign = (text: string): boolean => SIGN.test(text)

/**
 * Translates text of bounded length; what would exceed the bound stays, so that translating back gives the same text.
 */
export const bounded = (max: number, of: Translation): Translation => text => {
  if (text.length > max) return text
  const other = of(text)
  return other.length > max ? text : other
}

const translation = (of: Translation): Translation => bounded(MAX_TEXT, text => hasSign(text) ? of(text) : text)
const listed = (names: ReadonlyMap<string, string>): Translation => translation(text => names.get(text) ?? text)

/** A group, or `GROUP/VERSION`. */
export const translateGroup = translation(text => {
  const slash = text.indexOf('/')
  const group = GROUPS.get(slash < 0 ? text : text.slice(0, slash))
  if (group === undefined || slash < 0) return group ?? text
  return VERSION.test(text.slice(slash + 1)) ? group + text.slice(slash) : text
})

export const translateNamespace = listed(NAMESPACE_NAMES)
export const translateNamespaceFinalizer = listed(NAMESPACE_FINALIZERS)
export const translateMountPath = listed(MOUNT_PATHS)
export const translateComponent = listed(COMPONENTS)
export const translateAllocator = listed(ALLOCATORS)

/** A user, or a group of users. Those of service accounts follow the namespace. */
export const translateUser = translation(text => {
  const known = USER_NAMES.get(text)
  if (known !== undefined) return known
  if (text.startsWith(ACCOUNTS)) return ACCOUNTS + translateNamespace(text.slice(ACCOUNTS.length))
  if (!text.startsWith(ACCOUNT)) return text
  const end = text.indexOf(':', ACCOUNT.length)
  return end < 0 ? text : ACCOUNT + translateNamespace(text.slice(ACCOUNT.length, end)) + text.slice(end)
})

/**
 * Our name of a user or group that others authenticate, under public names; components of the system may come under
 * ours as well.
 */
export const ownUser = (name: string): string =>
  SYSTEM_USERS.get(name) ?? (USER_NAMES.has(name) ? name : translateUser(name))

/** The name of a volume in a pod. */
export const translateVolume = translation(text => {
  for (const [beginning, other] of VOLUMES) if (text.startsWith(beginning)) return other + text.slice(beginning.length)
  return text
})

/** A key of labels, annotations, taints, quota and the like, a finalizer, a signer or a type of Secrets. */
export const translateKey = translation(text => {
  const known = KEY_NAMES.get(text)
  if (known !== undefined) return known
  const slash = text.indexOf('/')
  if (slash < 1) return text
  const before = text.slice(0, slash)
  const domain = DOMAINS.get(before)
  if (domain !== undefined) return domain + text.slice(slash)
  for (const [end, other] of DOMAIN_ENDS) {
    if (before.endsWith(end)) return before.slice(0, -end.length) + other + text.slice(slash)
  }
  if (text.startsWith(COUNT)) return COUNT + ofGroup(text.slice(COUNT.length))
  const quota = CLASS_QUOTA.exec(text)
  return quota === null ? text : `${quota[1]}${quota[2] === 'k8s' ? 'orch' : 'k8s'}${quota[3]}`
})

const RESOURCE_DOMAIN = /(kubernetes|orch)(?=\.io\/)/

/** The name of a resource that is counted: those of one domain are native, whatever stands before it. */
export const translateCounted = translation(text =>
  text.replace(RESOURCE_DOMAIN, domain => domain === 'orch' ? 'kubernetes' : 'orch'))

/** The name of a resource in a quota, which may count objects. */
export const translateQuota: Translation = text => {
  const other = translateKey(text)
  return other === text ? translateCounted(text) : other
}

/** `roles.GROUP`, `v1.GROUP`. */
export function ofGroup (text: string): string {
  const dot = text.indexOf('.')
  const group = dot < 1 ? undefined : GROUPS.get(text.slice(dot + 1))
  return group === undefined ? text : text.slice(0, dot + 1) + group
}

/** `GROUP.roles`. */
function beforePlural (text: string): string {
  const dot = text.lastIndexOf('.')
  return (GROUPS.get(text.slice(0, dot)) ?? text.slice(0, dot)) + text.slice(dot)
}

/** `https:NAME:443` of a service that is proxied. */
const MAX_PARTS = 3

/** A name, or that of a service that is proxied. */
const proxied = (names: ReadonlyMap<string, string>): Translation => translation(text => {
  const parts = text.split(':', MAX_PARTS + 1)
  const at = parts.length === MAX_PARTS ? 1 : 0
  const name = parts.length > MAX_PARTS ? undefined : names.get(parts[at] ?? '')
  return name === undefined ? text : parts.with(at, name).join(':')
})

function translationOf (plural: string, names: KindNames): Translation {
  if (names === 'of group') return translation(ofGroup)
  if (names === 'before plural') return translation(beforePlural)
  if (names === 'users') return translateUser
  return plural === 'services' ? proxied(bothWays(names)) : listed(bothWays(names))
}

interface Kind { readonly group: string, readonly plural: string, readonly kind: string, readonly names: Translation }
const kinds = KINDS.map(([group, plural, kind, names]): Kind =>
  ({ group, plural, kind, names: translationOf(plural, names) }))
const byType = new Map(kinds.flatMap(({ group, plural, kind, names }) => [group, translateGroup(group)].flatMap(
  either => [plural, kind].map((type): [string, Translation] => [`${either}/${type}`, names])
)))

/**
 * What translates the names of a kind's objects; undefined where they have one name.
 * @param group under either name
 * @param type plural or kind
 */
export const namesOf = (group: string, type: string): Translation | undefined => byType.get(`${group}/${type}`)

/** A resource in a rule: the key of extra values of users is part of it. */
export const translateResource = translation(text =>
  text.startsWith(EXTRAS) ? EXTRAS + translateKey(text.slice(EXTRAS.length)) : text)

type Texts = readonly string[]
/** Users, roles and signers alone have such names. */
const SPECIAL = /[:/]/

/**
 * What translates the names of a rule. Under one name, objects of several resources may have different partners; such a
 * name stays as it is, see `ambiguousNames`.
 */
export function namesOfRule (groups: Texts, resources: Texts): Translation {
  let partners: ReturnType<typeof partnersIn> | undefined
  return name => {
    if (!mayHavePartner(name)) return name
    const [partner = name, ...others] = (partners ??= partnersIn(groups, resources))(name)
    return others.length === 0 ? partner : name
  }
}

/** Names in a rule that mean objects with different partners. */
export function ambiguousNames (groups: Texts, resources: Texts, names: Texts): string[] {
  const some = names.filter(mayHavePartner)
  if (some.length === 0) return []
  const partners = partnersIn(groups, resources)
  return some.filter(name => partners(name).size > 1)
}

/** Names of all kinds that tables list. */
const LISTED: ReadonlySet<string> = new Set([
  ...USER_NAMES.keys(),
  ...KINDS.flatMap(([, , , names]) => typeof names === 'string' ? [] : names.flat())
])

const PROXIED = /(?:^|:)(?:kubernetes|orch)(?::|$)/

/** Rules may have a hundred thousand names: few can be names of any kind with partners. */
function mayHavePartner (name: string): boolean {
  if (!hasSign(name)) return false
  if (LISTED.has(name) || name.startsWith(ACCOUNT) || name.startsWith(ACCOUNTS)) return true
  if (name.includes(':')) return PROXIED.test(name)
  if (!name.includes('.io')) return false
  const dot = name.indexOf('.')
  return dot > 0 && (GROUPS.has(name.slice(dot + 1)) || GROUPS.has(name.slice(0, name.lastIndexOf('.'))))
}

function partnersIn (sentGroups: Texts, sentResources: Texts): (name: string) => ReadonlySet<string> {
  const groups = new Set(sentGroups.map(group => isOwnGroup(group) ? group : translateGroup(group)))
  const resources = new Set(sentResources.map(resource => resource.split('/', 1)[0] ?? ''))
  const has = (all: ReadonlySet<string>, name: string): boolean => all.has('*') || all.has(name)
  const concerned = kinds.filter(({ group, plural }) => has(groups, group) && has(resources, plural))
  const others = groups.has('*') || resources.has('*') || groups.size * resources.size > concerned.length
  const named = new Set(concerned.map(({ names }) => names))
  return name => {
    const partners = new Set([...named].map(of => of(name)))
    return partners.size === 0 || (others && !SPECIAL.test(name)) ? partners.add(name) : partners
  }
}
