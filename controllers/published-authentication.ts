/**
 * Publishes how this server authenticates, for servers behind it: CA bundles of clients and proxy, and the proxy's
 * headers, in the config map `extension-apiserver-authentication`. Existing entries stay, because other servers may
 * have added them; expired certificates are removed. Checked when the bundles change and every minute.
 */
import { X509Certificate } from 'node:crypto'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { Authorities } from '../auth/authorities.js'
import { isStatusError } from '../schemas/status.js'
import { type Clock, systemClock } from '../event-loop/clock.js'
import { create } from '../registry/verbs/create.js'
import { current } from '../registry/current.js'
import { change } from '../registry/verbs/change.js'
import { serverContext } from '../registry/write-context.js'
import type { Controller, ControllerOptions } from './controller.js'

export interface PublishedAuthentication {
  readonly clientAuthorities: Authorities | undefined
  readonly proxy: {
    readonly authorities: Authorities
    readonly allowedNames: readonly string[]
    readonly usernameHeaders: readonly string[]
    readonly groupHeaders: readonly string[]
    readonly extraHeaderPrefixes: readonly string[]
    /** Default not published. */
    readonly uidHeaders?: readonly string[]
  } | undefined
}

interface ConfigMap extends ApiObject { data?: Record<string, string> | undefined }

const TARGET = { namespace: 'orch-system', name: 'extension-apiserver-authentication' }
const INTERVAL_MS = 60_000

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Joins two bundles without duplicates, expired or unreadable certificates. */
export function joinBundles (existing: string, own: string, now: number): string {
  const joined = new Map<string, string>()
  for (const block of `${existing}\n${own}`.match(BLOCK) ?? []) {
    try {
      const { fingerprint256, validTo } = new X509Certificate(block)
      if (Date.parse(validTo) > now) joined.set(fingerprint256, block)
    } catch {
      // skip unreadable certificates
    }
  }
  return [...joined.values()].map(block => `${block}\n`).join('')
}

function joinLists (existing: string | undefined, own: readonly string[]): string {
  let known: unknown
  try {
    known = JSON.parse(existing ?? '[]')
  } catch {
    known = []
  }
  const texts = Array.isArray(known) ? known.filter(text => typeof text === 'string') : []
  return JSON.stringify([...new Set([...texts, ...own])])
}

/** The desired data. @param now milliseconds of the wall clock */
export function published (
  { clientAuthorities, proxy }: PublishedAuthentication, existing: Readonly<Record<string, string>>, now: number
): Record<string, string> {
  const bundle = (key: string, authorities: Authorities): Record<string, string> =>
    ({ [key]: joinBundles(existing[key] ?? '', authorities.pem, now) })
  const list = (key: string, own: readonly string[]): Record<string, string> =>
    ({ [`requestheader-${key}`]: joinLists(existing[`requestheader-${key}`], own) })
  return {
    ...existing,
    ...(clientAuthorities === undefined ? {} : bundle('client-ca-file', clientAuthorities)),
    ...(proxy === undefined
      ? {}
      : {
          ...bundle('requestheader-client-ca-file', proxy.authorities),
          ...list('allowed-names', proxy.allowedNames),
          ...list('username-headers', proxy.usernameHeaders),
          ...list('group-headers', proxy.groupHeaders),
          ...list('extra-headers-prefix', proxy.extraHeaderPrefixes),
          ...(proxy.uidHeaders === undefined ? {} : list('uid-headers', proxy.uidHeaders))
        })
  }
}

const same = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
    Object.entries(one).every(([key, value]) => other[key] === value)

export class AuthenticationPublisher implements Controller {
  readonly #options: ControllerOptions
  readonly #authentication: PublishedAuthentication
  readonly #clock: Clock
  readonly #closing = new AbortController()
  #pending: Promise<void> = Promise.resolve()
  #cancel: (() => void) | undefined

  constructor (options: ControllerOptions, authentication: PublishedAuthentication) {
    this.#options = options
    this.#authentication = authentication
    this.#clock = options.clock ?? systemClock
    const changed = (): void => { if (this.#cancel !== undefined) this.#enqueue() }
    authentication.clientAuthorities?.onChange(changed)
    authentication.proxy?.authorities.onChange(changed)
  }

  /** Resolves when the config map exists. */
  async start (): Promise<void> {
    await this.#publish()
    this.#schedule()
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#cancel?.()
    await this.#pending
  }

  #schedule (): void {
    this.#cancel?.()
    if (!this.#closing.signal.aborted) this.#cancel = this.#clock.after(INTERVAL_MS, () => { this.#enqueue() })
  }

  #enqueue (): void {
    this.#pending = this.#pending.then(() => this.#publish()).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) {
        this.#options.log(`the config map ${TARGET.namespace}/${TARGET.name} could not be written`, error)
      }
    })
    this.#schedule()
  }

  async #publish (): Promise<void> {
    const store = this.#options.resources.find('', 'configmaps')
    if (store === undefined || this.#closing.signal.aborted) return
    const context = serverContext(this.#closing.signal)
    const desiredData = (existing: ConfigMap): Record<string, string> =>
      published(this.#authentication, existing.data ?? {}, this.#clock.wall())
    const entry = await current(store, store.keys.of(TARGET.namespace, TARGET.name))
    if (entry === undefined) {
      const configMap: ConfigMap = {
        kind: 'ConfigMap', apiVersion: 'v1', metadata: { ...TARGET },
        data: published(this.#authentication, {}, this.#clock.wall())
      }
      await create(store, configMap, { namespace: TARGET.namespace, name: '' }, context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error // created by another server; the next check joins both
      })
      return
    }
    const existing = store.entries.read(entry) as ConfigMap // of the store's type
    if (same(desiredData(existing), existing.data ?? {})) return
    await change(store, TARGET, context, base => {
      const object = base.copy() as ConfigMap
      object.data = desiredData(object)
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // created at the next check
    })
  }
}
