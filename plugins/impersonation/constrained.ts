/**
 * Constrained impersonation: who may act as another user may do so for some verbs only. Each mode is for users of one
 * kind and asks for two things: to act as that user, and to do what the request does in that way. The first mode that
 * allows the request counts; permission to impersonate without constraint comes last.
 */
import { NODE_NAME } from '../../auth/credential-ids.js'
import { withDefault } from '../../auth/default-groups.js'
import { serviceAccountGroups, splitServiceAccount } from '../../auth/service-account-names.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Impersonation } from './headers.js'
import { IDENTITIES, type Permission } from './permissions.js'

export interface Mode {
  readonly name: 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'
  /** What the request asks for that the mode never allows. */
  readonly problem: string | undefined
  readonly permissions: readonly Permission[]
  readonly user: UserInfo
}

const NODE = 'system:node:'
const NODES = 'system:nodes'
const MASTERS = 'system:masters'
const KEY = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?(?:\/[-a-z0-9._~!$&'()*+,;=:@%/]*)?$/

/**
 * The modes that suit the user, in order.
 * @param sent with one user
 * @param requester who asks
 */
export function modesOf (sent: Impersonation, requester: UserInfo): Mode[] {
  const { users: [username = ''] } = sent
  const node = username.startsWith(NODE) ? username.slice(NODE.length) : undefined
  if (node !== undefined) {
    const isAssociated = splitServiceAccount(requester.username) !== undefined &&
      requester.extra[NODE_NAME]?.length === 1 && requester.extra[NODE_NAME][0] === node
    return [
      ...isAssociated ? [mode('associated-node', sent, { resource: 'nodes', name: '*' }, [NODES])] : [],
      mode('arbitrary-node', sent, { resource: 'nodes', name: node }, [NODES])
    ]
  }
  const account = splitServiceAccount(username)
  if (account !== undefined) {
    const groups = serviceAccountGroups(account.namespace)
    return [mode('serviceaccount', sent, { resource: 'serviceaccounts', ...account }, groups)]
  }
  return [mode('user-info', sent, { resource: 'users', name: username })]
}

/** @param own the groups of the user, where its name determines them */
function mode (
  name: Mode['name'], sent: Impersonation, identity: Omit<Permission, 'group'>, own?: readonly string[]
): Mode {
  const { users: [username = ''], uids: [uid = ''], groups, extra } = sent
  return {
    name,
    problem: own !== undefined && groups.length > 0
      ? `groups cannot be impersonated with ${name}: they are those of the user`
      : problemOf(sent),
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
  const key = [...extra.keys()].find(name => !KEY.test(name))
  if (key !== undefined) return `${JSON.stringify(key)} is no domain and path in lower case`
  return [...extra.values()].flat().includes('') ? 'an empty value cannot be impersonated' : undefined
}
