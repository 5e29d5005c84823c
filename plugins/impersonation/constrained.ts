/**
 * Constrained impersonation: who may act as another user may do so for some verbs only. Each mode is for users of one
 * kind and asks for two things: to act as that user, and to do what the request does in that way. The first mode that
 * allows the request counts; permission to impersonate without constraint comes last.
 */
import { ASSOCIATED_KEYS, NODE_NAME } from '../../auth/credential-ids.js'
import { withDefault } from '../../auth/default-groups.js'
import { serviceAccountGroups, splitServiceAccount } from '../../auth/service-account-names.js'
import { dnsSubdomain, domainOfPath } from '../../schemas/names.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Impersonation } from './headers.js'
import { IDENTITIES, type Permission } from './permissions.js'

export interface Mode {
  readonly name: 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'
  /** What the request asks for that the mode never allows. */
  readonly problem: string | undefined
  readonly permissions: readonly Permission[]
  /** Who asks, as the authorizer sees it. */
  readonly requester: UserInfo
  readonly user: UserInfo
}

const NODE = 'system:node:'
const NODES = 'system:nodes'
const MASTERS = 'system:masters'

/**
 * The modes that suit the user, in order. Those of nodes and service accounts take a name alone: the server knows the
 * rest.
 * @param sent with one user
 * @param requester who asks
 */
export function modesOf (sent: Impersonation, requester: UserInfo): Mode[] {
  const { users: [username = ''], uids: [uid = ''], groups, extra } = sent
  const isNameAlone = uid === '' && groups.length === 0 && extra.size === 0
  const node = nodeOf(username)
  if (node !== undefined) {
    if (!isNameAlone) return []
    const isAssociated = splitServiceAccount(requester.username) !== undefined &&
      requester.extra[NODE_NAME]?.length === 1 && requester.extra[NODE_NAME][0] === node
    return [
      ...isAssociated
        ? [mode('associated-node', [sent, ofAnyNode(requester)], { resource: 'nodes', name: '*' }, [NODES])]
        : [],
      mode('arbitrary-node', [sent, requester], { resource: 'nodes', name: node }, [NODES])
    ]
  }
  const account = splitServiceAccount(username)
  if (account !== undefined) {
    if (!isNameAlone) return []
    const own = serviceAccountGroups(account.namespace)
    return [mode('serviceaccount', [sent, requester], { resource: 'serviceaccounts', ...account }, own)]
  }
  return [mode('user-info', [sent, requester], { resource: 'users', name: username })]
}

function nodeOf (username: string): string | undefined {
  const name = username.startsWith(NODE) ? username.slice(NODE.length) : ''
  return dnsSubdomain(name).length === 0 ? name : undefined
}

/** The permission holds for every node, so the authorizer does not see on which one the requester runs. */
const ofAnyNode = (requester: UserInfo): UserInfo =>
  ({ ...requester, extra: { [ASSOCIATED_KEYS]: Object.keys(requester.extra).sort() } })

/** @param own the groups of the user, where its name determines them */
function mode (
  name: Mode['name'], [sent, requester]: readonly [Impersonation, UserInfo], identity: Omit<Permission, 'group'>,
  own?: readonly string[]
): Mode {
  const { users: [username = ''], uids: [uid = ''], groups, extra } = sent
  return {
    name,
    problem: problemOf(sent),
    requester,
    permissions: [
      { group: IDENTITIES, ...identity },
      ...groups.map(group => ({ group: IDENTITIES, resource: 'groups', name: group })),
      ...uid === '' ? [] : [{ group: IDENTITIES, resource: 'uids', name: uid }],
      ...[...extra].flatMap(([key, values]) =>
        values.map(value => ({ group: IDENTITIES, resource: 'userextras', subresource: key, name: value })))
    ],
    user: { username, uid, groups: withDefault(username, own ?? groups), extra: Object.fromEntries(extra) }
  }
}

function problemOf ({ groups, extra }: Impersonation): string | undefined {
  if (groups.includes(MASTERS)) return `the group ${MASTERS} cannot be impersonated with a constraint`
  if (groups.includes('')) return 'an empty group cannot be impersonated'
  const key = [...extra.keys()].find(name => domainOfPath(name) === undefined || name !== name.toLowerCase())
  if (key !== undefined) return `${JSON.stringify(key)} is no domain and path in lower case`
  return [...extra.values()].flat().includes('') ? 'an empty value cannot be impersonated' : undefined
}
