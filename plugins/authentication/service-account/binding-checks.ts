/**
 * Checks that the objects a token is bound to still exist: its account, its bound object, and the Secret that stores
 * it. Runs on every request against the watch cache. The cache may lag behind other servers, so a rejection is
 * confirmed in the store.
 */
import { hash } from 'node:crypto'
import { quote } from '../../../schemas/quote.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import type { Entry } from '../../../storage/cache/entry.js'
import { current } from '../../../registry/current.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import type { ReadClaims } from './claims.js'

/** Throws or rejects if the token is no longer valid; returns a promise only if it reads the store. */
export type Check = () => Promise<void> | undefined

export interface BindingCheckOptions {
  readonly resources: ResourceRegistry
  /** Set if uses of tokens that are kept in Secrets are tracked, so that unused ones may be invalid. */
  readonly kept?: object | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A label of Secrets whose token was not used for long. */
export const INVALID_SINCE = 'orch.io/legacy-token-invalid-since'

/** Allowed clock skew between servers, milliseconds. */
export const LEEWAY = 60_000

export const digestOf = (token: string): string => hash('sha256', token, 'base64')

/** @param digest of the token, compared with the one stored in its Secret */
export function checksOf (
  { namespace, account, pod, secret, node, keptIn }: ReadClaims, digest: string,
  { resources, now, kept }: BindingCheckOptions
): Check[] {
  const there = (
    plural: string, name: string, problem: (entry: Entry) => string | undefined, at = namespace
  ): Check => {
    const bound = { plural, namespace: at, name }
    return () => check(resources, bound, problem)
  }
  /** A terminating object counts until its deletion time: pods need their token to shut down. */
  const same = (uid: string) => ({ object: { metadata } }: Entry): string | undefined => {
    if (metadata.uid !== uid) return 'it is another one of that name'
    return metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) < now() - LEEWAY
      ? 'it is being deleted'
      : undefined
  }
  const keeps = (entry: Entry): string | undefined => {
    if (entry.object.metadata.deletionTimestamp !== undefined) return 'it is being deleted'
    const since = entry.object.metadata.labels?.[INVALID_SINCE]
    if (kept !== undefined && since !== undefined) return `its token has been invalid since ${quote(since)}`
    return entry.derive('digest of its token', keptDigest) === digest ? undefined : 'it keeps another token'
  }
  return [
    ...(keptIn === undefined ? [] : [there('secrets', keptIn, keeps)]),
    there('serviceaccounts', account.name, same(account.uid)),
    ...(pod === undefined ? [] : [there('pods', pod.name, same(pod.uid))]),
    ...(secret === undefined ? [] : [there('secrets', secret.name, same(secret.uid))]),
    // The node of a pod only says where it runs.
    ...(node === undefined || pod !== undefined ? [] : [there('nodes', node.name, same(node.uid), '')])
  ]
}

/** Runs the checks in order. */
export function passAll (checks: readonly Check[], from = 0): Promise<void> | undefined {
  for (let at = from; at < checks.length; at++) {
    const pending = checks[at]?.()
    if (pending !== undefined) return pending.then(() => passAll(checks, at + 1))
  }
  return undefined
}

function keptDigest (entry: Entry): string {
  const { data } = entry.object as ApiObject & { data?: Record<string, string> | null } // a Secret
  return digestOf(Buffer.from(data?.['token'] ?? '', 'base64').toString('latin1'))
}

function check (
  resources: ResourceRegistry, { plural, namespace, name }: Record<'plural' | 'namespace' | 'name', string>,
  problem: (entry: Entry) => string | undefined
): Promise<void> | undefined {
  const store = resources.find('', plural)
  if (store === undefined) throw new Error(`there are no ${plural}`)
  const refuse = (entry: Entry | undefined): void => {
    const why = entry === undefined ? 'it is not there' : problem(entry)
    if (why !== undefined) {
      const bound = namespace === '' ? name : `${namespace}/${name}`
      throw new Error(`the token is no longer valid: ${plural} ${JSON.stringify(bound)}: ${why}`)
    }
  }
  const key = store.keys.of(namespace, name)
  const { cache } = store
  if (cache?.loaded === true) {
    const entry = cache.get(key)
    if (entry !== undefined && problem(entry) === undefined) return undefined
    if (cache.fresh() === undefined) return refuse(entry) as undefined // the cache is current
  }
  return current(store, key).then(refuse)
}
