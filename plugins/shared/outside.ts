/**
 * How those whom this server calls, or writes logs for, name what they are told of: webhooks, extension servers, node
 * agents, issuers of users. With `--compat-names` they have the public names, otherwise this server's own.
 */
import { admissionNames, type AdmissionNames } from '../../admission/names.js'
import type { HookCaller, HookTarget } from '../../admission/webhooks/target.js'
import { SubjectAccessReview, type SubjectAccessReviewSpec } from '../../schemas/api/authorization/accessreviews.js'
import { PUBLIC_NAMES } from '../../schemas/compat/naming.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { OWN_NAMES, type Naming } from '../../schemas/naming.js'

type Claims = Readonly<Record<string, unknown>>
type Service = Parameters<Naming['hostOf']>[0]
/** A user as extension servers are told of one. */
export type RemoteUser = Pick<UserInfo, 'username' | 'groups'> & Partial<UserInfo>

/** Functions of text translate from either side to the other. */
export interface Outside {
  /** Undefined if they have own names: nothing then differs. Otherwise a group, or `GROUP/VERSION`. */
  readonly otherGroup: ((name: string) => string) | undefined
  readonly group: (name: string) => string
  readonly namespace: (name: string) => string
  readonly path: (path: string) => string
  /** @param path of the request */
  readonly query: (query: string, path: string) => string
  /** The name of a service in its certificate. */
  readonly host: (service: Service) => string
  /** A user of ours, for extension servers. */
  readonly user: (own: RemoteUser) => RemoteUser
  /** Whom others have authenticated, as our user. @param ownExtra whether extra has our keys. Undefined: the same */
  readonly authenticated: (<T extends UserInfo>(user: T, ownExtra: boolean) => T) | undefined
  /** What tokens of service accounts say: as others read it, and under own names, whatever names it has. */
  readonly tokens: { readonly written: (own: Claims) => Claims, readonly read: (sent: Claims) => Claims }
  /** The spec of a SubjectAccessReview, which is taken over. Undefined: the same. */
  readonly accessReview: ((spec: Partial<SubjectAccessReviewSpec>) => Partial<SubjectAccessReviewSpec>) | undefined
  /** Calls webhooks with reviews under their names, and reads their answers. */
  readonly reviews: (caller: HookCaller) => HookCaller
  /** An audit event, as JSON. Undefined: the same. */
  readonly auditEvent: ((own: string) => string) | undefined
  /** All names of what a component makes, such as its locks, which default roles name. */
  readonly ofComponents: (own: string) => string[]
  readonly admission: AdmissionNames
}

export function outside (hasPublicNames: boolean): Outside {
  const naming = hasPublicNames ? PUBLIC_NAMES : OWN_NAMES
  const { renames, group, namespace, path, query, hostOf: host } = naming
  return {
    otherGroup: renames ? group : undefined,
    group,
    namespace,
    path,
    query,
    host,
    user: renames ? own => userAs(own, naming) : own => own,
    authenticated: renames ? authenticatedAs(naming) : undefined,
    tokens: { written: naming.claims, read: naming.ownClaims },
    accessReview: renames
      ? spec => naming.shown<{ spec: typeof spec }>(SubjectAccessReview, { spec }).spec
      : undefined,
    reviews: renames ? caller => reviewing(caller, naming) : caller => caller,
    auditEvent: renames ? naming.event : undefined,
    ofComponents: own => [...new Set([own, naming.component(own)])],
    admission: admissionNames(naming)
  }
}

const extraAs = (extra: UserInfo['extra'], key: Naming['key']): UserInfo['extra'] =>
  Object.fromEntries(Object.entries(extra).map(([name, values]) => [key(name), values]))

const userAs = (own: RemoteUser, { user, key }: Naming): RemoteUser =>
  ({ ...own, username: user(own.username), groups: own.groups.map(user), extra: extraAs(own.extra ?? {}, key) })

/** Cached per user object, because most are reused. */
function authenticatedAs ({ ownUser, key }: Naming): NonNullable<Outside['authenticated']> {
  const ownUsers = new WeakMap<UserInfo, UserInfo>()
  return <T extends UserInfo>(user: T, ownExtra: boolean) => {
    let own = ownUsers.get(user) as T | undefined // of the same type
    if (own !== undefined) return own
    const extra = ownExtra ? { ...user.extra } : extraAs(user.extra, key)
    ownUsers.set(user, own = { ...user, username: ownUser(user.username), groups: user.groups.map(ownUser), extra })
    return own
  }
}

const reviewing = (caller: HookCaller, naming: Naming): HookCaller => ({
  retain: targets => { caller.retain(targets) },
  call: async call => {
    const { body, answer } = naming.review(call.body)
    return answer(await caller.call({ ...call, body, target: targetAs(call.target, naming) }))
  }
})

/** With the host that the certificate of a service in a renamed namespace has. */
function targetAs (target: HookTarget, { hostOf }: Naming): HookTarget {
  const { service, url } = target
  if (service === undefined) return target
  const other = new URL(url)
  other.hostname = hostOf(service)
  return { ...target, url: other, displayUrl: target.displayUrl.replace(url.hostname, other.hostname) }
}
