/**
 * How servers behind this one know who asks: the authorities of clients and of the proxy, and the proxy's headers, in the config map
 * `extension-apiserver-authentication`. What is there already stays, as another server may have put it there; authorities go when
 * they have expired. It is looked at when the authorities change, and every minute.
 */
import { X509Certificate } from 'node:crypto'
import type { ApiObject } from '../schemas/index.js'
import type { Authorities } from '../auth/authorities.js'
import { isStatusError } from '../schemas/status.js'
import { type Clock, systemClock } from '../storage/clock.js'
import { create } from '../registry/operations/create.js'
import { current } from '../registry/operations/rewrite.js'
import { change } from '../registry/operations/update.js'
import { serverContext } from '../registry/operations/context.js'
import type { Controller, ControllerOptions } from './controller.js'

export interface PublishedAuthentication {
  readonly clientAuthorities: Authorities | undefined
  readonly proxy: {
    readonly authorities: Authorities
    readonly allowedNames: readonly string[]
    readonly usernameHeaders: readonly string[]
    readonly groupHeaders: readonly string[]
    readonly extraHeaderPrefixes: readonly string[]
  } | undefined
}

interface ConfigMap extends ApiObject { data?: Record<string, string> | undefined }

const TARGET = { namespace: 'orch-system', name: 'extension-apiserver-authentication' }
const EVERY_MS = 60_000

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The certificates of both, each once, those that have expired or cannot be read left out. */
export function joinBundles (there: string, own: string, now: number): string {
  const joined = new Map<string, string>()
  for (const block of `${there}\n${own}`.match(BLOCK) ?? []) {
    try {
      const { fingerprint256, validTo } = new X509Certificate(block)
      if (Date.parse(validTo) > now) joined.set(fingerprint256, block)
    } catch {
      // nobody could verify anything with it
    }
  }
  return [...joined.values()].map(block => `${block}\n`).join('')
}

function joinLists (there: string | undefined, own: readonly string[]): string {
  let known: unknown
  try {
    known = JSON.parse(there ?? '[]')
  } catch {
    known = []
  }
  const texts = Array.isArray(known) ? known.filter(one => typeof one === 'string') : []
  return JSON.stringify([...new Set([...texts, ...own])])
}

/** The data that should be there. @param now milliseconds of the wall clock */
export function published ({ clientAuthorities, proxy }: PublishedAuthentication, there: Readonly<Record<string, string>>, now: number): Record<string, string> {
  const bundle = (key: string, authorities: Authorities): Record<string, string> => ({ [key]: joinBundles(there[key] ?? '', authorities.pem, now) })
  const list = (key: string, own: readonly string[]): Record<string, string> => ({ [`requestheader-${key}`]: joinLists(there[`requestheader-${key}`], own) })
  return {
    ...there,
    ...(clientAuthorities === undefined ? {} : bundle('client-ca-file', clientAuthorities)),
    ...(proxy === undefined
      ? {}
      : {
          ...bundle('requestheader-client-ca-file', proxy.authorities),
          ...list('allowed-names', proxy.allowedNames),
          ...list('username-headers', proxy.usernameHeaders),
          ...list('group-headers', proxy.groupHeaders),
          ...list('extra-headers-prefix', proxy.extraHeaderPrefixes)
        })
  }
}

const same = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([key, value]) => other[key] === value)

export class AuthenticationPublisher implements Controller {
  readonly #options: ControllerOptions
  readonly #authentication: PublishedAuthentication
  readonly #clock: Clock
  readonly #closing = new AbortController()
  #working: Promise<void> = Promise.resolve()
  #cancel: (() => void) | undefined

  constructor (options: ControllerOptions, authentication: PublishedAuthentication) {
    this.#options = options
    this.#authentication = authentication
    this.#clock = options.clock ?? systemClock
    const changed = (): void => { if (this.#cancel !== undefined) this.#again() }
    authentication.clientAuthorities?.onChange(changed)
    authentication.proxy?.authorities.onChange(changed)
  }

  /** Resolves when it is there. */
  async start (): Promise<void> {
    await this.#publish()
    this.#schedule()
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#cancel?.()
    await this.#working
  }

  #schedule (): void {
    this.#cancel?.()
    if (!this.#closing.signal.aborted) this.#cancel = this.#clock.after(EVERY_MS, () => { this.#again() })
  }

  #again (): void {
    this.#working = this.#working.then(() => this.#publish()).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#options.log(`the config map ${TARGET.namespace}/${TARGET.name} could not be written`, error)
    })
    this.#schedule()
  }

  async #publish (): Promise<void> {
    const store = this.#options.resources.find('', 'configmaps')
    if (store === undefined || this.#closing.signal.aborted) return
    const context = serverContext(this.#closing.signal)
    const wanted = (there: ConfigMap): Record<string, string> => published(this.#authentication, there.data ?? {}, this.#clock.wall())
    const found = await current(store, store.key(TARGET.namespace, TARGET.name))
    if (found === undefined) {
      const made: ConfigMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { ...TARGET }, data: published(this.#authentication, {}, this.#clock.wall()) }
      await create(store, made, { namespace: TARGET.namespace, name: '' }, context).catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error // another server was faster, and the next look joins both
      })
      return
    }
    const there = found.read() as ConfigMap // of the type of its store
    if (same(wanted(there), there.data ?? {})) return
    await change(store, TARGET, context, base => {
      const object = base.copy() as ConfigMap
      object.data = wanted(object)
      return object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // it is made with the next look
    })
  }
}
