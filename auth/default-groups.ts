/** Groups that users have by their names, unless others are named for them. */
import { serviceAccountGroups, splitServiceAccount } from './service-account-names.js'

const ANONYMOUS = 'system:anonymous'
const AUTHENTICATED = 'system:authenticated'
const UNAUTHENTICATED = 'system:unauthenticated'

/** Of whom another one acts as: service accounts have their own groups where none are named. */
export function groupsOf (username: string, named: readonly string[]): readonly string[] {
  const account = splitServiceAccount(username)
  return withDefault(username, named.length > 0 || account === undefined
    ? named
    : serviceAccountGroups(account.namespace))
}

/** Adds the group of authenticated or unauthenticated users unless one of them is named. */
export function withDefault (username: string, groups: readonly string[]): readonly string[] {
  if (username === ANONYMOUS) return groups.includes(UNAUTHENTICATED) ? groups : [...groups, UNAUTHENTICATED]
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED) ? groups : [...groups, AUTHENTICATED]
}
