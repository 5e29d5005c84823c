/** Reads the impersonation headers. */
import { extraKey, headerText } from '../shared/sent-headers.js'

const PREFIX = 'impersonate-'
const EXTRA = 'impersonate-extra-'

/** The requested identity, not yet authorized. */
export interface Impersonation {
  readonly users: readonly string[]
  readonly uids: readonly string[]
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

const I = 0x49
const i = 0x69

/** Also matches spellings with _ that proxies may treat as equal. */
export function isImpersonation (name: string): boolean {
  const first = name.charCodeAt(0)
  return (first === i || first === I) && name.length > PREFIX.length &&
    name.toLowerCase().replaceAll('_', '-').startsWith(PREFIX)
}

/** @throws Error for invalid UTF-8 */
export function impersonationHeaders (rawHeaders: readonly string[]): Impersonation {
  const users: string[] = []
  const uids: string[] = []
  const groups: string[] = []
  const extra = new Map<string, string[]>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!isImpersonation(rawHeaders[at] as string)) continue // names and values alternate
    const name = (rawHeaders[at] as string).toLowerCase()
    const value = headerText(rawHeaders[at + 1] as string, name)
    if (name === 'impersonate-user') users.push(value)
    else if (name === 'impersonate-uid') uids.push(value)
    else if (name === 'impersonate-group') groups.push(value)
    else if (name.startsWith(EXTRA)) {
      const key = extraKey(name.slice(EXTRA.length))
      extra.set(key, [...extra.get(key) ?? [], value])
    }
  }
  return { users, uids, groups, extra }
}
