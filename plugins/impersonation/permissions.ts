/** Parses impersonation headers into the impersonated user and the permissions required for it. */
import { groupsOf } from '../../auth/default-groups.js'
import { splitServiceAccount } from '../../auth/service-account-names.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { badRequest } from '../../schemas/status.js'
import type { Impersonation } from './headers.js'

/** A resource on which the client needs the verb `impersonate`. */
export interface Permission {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name: string
}

/** The group of resources that stand for identities. */
export const IDENTITIES = 'authentication.orch.io'
/** Limits the authorizer calls of one request. */
const MAX_PERMISSIONS = 500

/** @throws StatusError 400 for a missing or repeated user, or too many groups and extra values */
export function parseImpersonation ({ users, uids, groups, extra }: Impersonation): {
  permissions: Permission[], user: UserInfo | undefined
} {
  if (users.length > 1) throw badRequest('the header Impersonate-User occurs more than once')
  if (uids.length > 1) throw badRequest('the header Impersonate-Uid occurs more than once')
  const [username = ''] = users
  const [uid = ''] = uids
  if (username === '') {
    if (uid !== '' || groups.length > 0 || extra.size > 0) {
      throw badRequest(
        'groups, a uid or extra cannot be impersonated without a user: the header Impersonate-User is missing'
      )
    }
    return { permissions: [], user: undefined }
  }
  const account = splitServiceAccount(username)
  const permissions: Permission[] = [
    account === undefined
      ? { group: '', resource: 'users', name: username }
      : { group: '', resource: 'serviceaccounts', ...account },
    ...groups.map(name => ({ group: '', resource: 'groups', name })),
    ...[...extra].flatMap(([key, values]) =>
      values.map(name => ({ group: IDENTITIES, resource: 'userextras', subresource: key, name }))),
    ...(uid === '' ? [] : [{ group: IDENTITIES, resource: 'uids', name: uid }])
  ]
  if (permissions.length > MAX_PERMISSIONS) throw badRequest(`more than ${MAX_PERMISSIONS} things to impersonate`)
  return { permissions, user: { username, uid, groups: groupsOf(username, groups), extra: Object.fromEntries(extra) } }
}
