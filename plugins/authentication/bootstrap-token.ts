/**
 * Bootstrap tokens, with which node agents join a cluster: Secrets of type bootstrap.orch.io/token in orch-system.
 * Malformed or expired Secrets authenticate nobody. (Interface: Bootstrap tokens.) Limit: if Secrets have no watch
 * cache, each token of this form costs a read of the store.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Authenticator } from '../../auth/authenticator.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { current } from '../../registry/current.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { parseTime } from '../../schemas/meta/time.js'
import { bearerToken } from './token-file.js'

export interface BootstrapTokenOptions {
  readonly resources: ResourceRegistry
  /** Milliseconds since 1970. For tests. */
  readonly now?: () => number
}

const TYPE = 'bootstrap.orch.io/token'
const NAMESPACE = 'orch-system'
const GROUP = 'system:bootstrappers'
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const LENGTH = 23
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

interface Secret extends ApiObject { type?: string, data?: Record<string, string> | null }

export function bootstrapTokenAuthenticator ({ resources, now = Date.now }: BootstrapTokenOptions): Authenticator {
  return {
    name: 'bootstrap-token',
    authenticate ({ headers: { authorization } }) {
      const token = bearerToken(authorization)
      const [, id, secret] = token?.length === LENGTH ? TOKEN.exec(token) ?? [] : []
      if (id === undefined || secret === undefined) return undefined
      const store = resources.find('', 'secrets')
      if (store === undefined) return undefined
      const key = store.keys.of(NAMESPACE, `bootstrap-token-${id}`)
      const user = (entry: Entry | undefined): UserInfo | undefined =>
        entry === undefined ? undefined : userOf(entry.object, id, secret, now())
      return store.cache?.loaded === true ? user(store.cache.get(key)) : current(store, key).then(user)
    }
  }
}

function userOf (object: ApiObject, id: string, secret: string, now: number): UserInfo | undefined {
  const { metadata, type, data } = object as Secret // from the store of secrets
  const value = (key: string): string =>
    Buffer.from(data != null && Object.hasOwn(data, key) ? data[key] ?? '' : '', 'base64').toString()
  if (type !== TYPE || metadata.deletionTimestamp !== undefined) return undefined
  if (!equal(value('token-secret'), secret) || value('token-id') !== id) return undefined
  if (hasExpired(value('expiration'), now) || value('usage-bootstrap-authentication') !== 'true') return undefined
  const extra = value('auth-extra-groups')
  const groups = extra === '' ? [] : extra.split(',')
  if (!groups.every(group => EXTRA_GROUP.test(group))) return undefined
  return { username: `system:bootstrap:${id}`, uid: '', groups: [GROUP, ...[...new Set(groups)].sort()], extra: {} }
}

/** Compares in constant time, whatever the lengths. */
function equal (kept: string, given: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(kept), digest(given))
}

/** Without an expiration a token never expires; an invalid one counts as expired. */
function hasExpired (expiration: string, now: number): boolean {
  if (expiration === '') return false
  const until = parseTime(expiration)
  return until === undefined || now >= until.seconds * 1000
}
