/**
 * Follows the APIServices: which group versions other servers serve, and the order of all group versions in discovery.
 * A local group version is delegated if an APIService names a service for it. APIServices that this server maintains
 * never delegate, because such a change is about to be reverted.
 */
import type { APIService } from '../../schemas/api/apiregistration/apiservices.js'
import { apiVersionOf } from '../../schemas/groups.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { GROUP, MANAGED, nameOf } from './local-services.js'

const HTTPS_PORT = 443

/** A group version that another server serves. Replaced when its APIService changes, never mutated. */
export interface RemoteService {
  /** Name of the APIService: `v1.example.com`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: { readonly namespace: string, readonly name: string, readonly port: number }
  /** PEM; undefined for the platform's trusted CAs. */
  readonly authority: string | undefined
  /** The serving certificate goes unchecked. */
  readonly insecure: boolean
}

export interface RegisteredService {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly groupPriority: number
  readonly versionPriority: number
  /** Undefined for what this server serves. */
  readonly remote: RemoteService | undefined
  /** The condition Available is True. */
  readonly available: boolean
  /** This server creates and restores the APIService. */
  readonly managed: boolean
  /** Equal if only the status differs. */
  readonly fingerprint: string
}

/** @param before undefined for a new APIService; @param after undefined for a deleted one */
export type ServiceListener = (before: RegisteredService | undefined, after: RegisteredService | undefined) => void

export class RegisteredServices implements Controller {
  readonly #options: ControllerOptions
  readonly #services = new Map<string, RegisteredService>()
  readonly #listeners: ServiceListener[] = []
  #informer: Informer | undefined
  #unsubscribe: (() => void) | undefined
  #remotes = 0
  #generation = 0
  #synced = false

  constructor (options: ControllerOptions) { this.#options = options }

  /** Changes with the APIServices, but not with their status. */
  get generation (): number { return this.#generation }
  /** Whether all stored APIServices are known. */
  get synced (): boolean { return this.#synced }
  get byName (): ReadonlyMap<string, RegisteredService> { return this.#services }

  /** The APIService of a group version that another server serves. */
  find (group: string, version: string): RegisteredService | undefined {
    if (this.#remotes === 0 || group === GROUP) return undefined
    const service = this.#services.get(nameOf(group, version))
    if (service?.remote === undefined) return undefined
    return service.managed && this.#options.resources.own().some(representation => representation.group === group &&
      representation.version === version)
      ? undefined
      : service
  }

  /** Calls `listener` after each change. Register it before the start. */
  onChange (listener: ServiceListener): void { this.#listeners.push(listener) }

  /** Resolves when all stored APIServices are known. Writes to them are acknowledged when this server follows them. */
  async start (): Promise<void> {
    const { resources, log, clock } = this.#options
    const store = resources.find(GROUP, 'apiservices')
    if (store === undefined) {
      this.#synced = true
      return
    }
    this.#stop()
    const informer = this.#informer = new Informer({
      store,
      log,
      handlers: [{
        // APIServices only
        changed: entry => { this.#set(entry.name, registered(store.entries.read(entry) as APIService)) },
        deleted: ({ name }) => { this.#set(name, undefined) }
      }],
      ...(clock === undefined ? {} : { clock })
    })
    this.#unsubscribe = store.onCommitted(revision => informer.reach(revision))
    await informer.start()
    this.#synced = true
  }

  async close (): Promise<void> { this.#stop() }

  #stop (): void {
    this.#unsubscribe?.()
    this.#informer?.close()
  }

  #set (name: string, after: RegisteredService | undefined): void {
    const before = this.#services.get(name)
    if (after === undefined) this.#services.delete(name)
    else {
      this.#services.set(name, before?.fingerprint === after.fingerprint ? { ...after, remote: before.remote } : after)
    }
    this.#remotes += Number(after?.remote !== undefined) - Number(before?.remote !== undefined)
    if (before?.fingerprint !== after?.fingerprint) this.#generation++
    if (isDelegated(before) !== isDelegated(after)) this.#delegate()
    for (const listener of this.#listeners) listener(before, this.#services.get(name))
  }

  #delegate (): void {
    this.#options.resources.delegate(new Set([...this.#services.values()]
      .filter(isDelegated)
      .map(({ group, version }) => apiVersionOf(group, version))))
  }
}

const isDelegated = (service: RegisteredService | undefined): boolean => service?.remote !== undefined &&
  !service.managed && service.group !== GROUP

function registered (
  { metadata: { name = '', uid, labels }, spec, status: { conditions = [] } }: APIService
): RegisteredService {
  const {
    group = '', version = '', groupPriorityMinimum, versionPriority, service, caBundle = '', insecureSkipTLSVerify
  } = spec
  return {
    name,
    group,
    version,
    groupPriority: groupPriorityMinimum,
    versionPriority,
    remote: service === undefined
      ? undefined
      : {
          name,
          group,
          version,
          service: { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? HTTPS_PORT },
          authority: caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString(),
          insecure: insecureSkipTLSVerify === true
        },
    available: conditions.some(({ type, status }) => type === 'Available' && status === 'True'),
    managed: labels?.[MANAGED] !== undefined,
    fingerprint: JSON.stringify([uid, spec, labels?.[MANAGED]])
  }
}

/** The APIServices' store. */
export const apiServicesOf = ({ resources }: Pick<ControllerOptions, 'resources'>): ResourceStore | undefined =>
  resources.find(GROUP, 'apiservices')
