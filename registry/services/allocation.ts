/**
 * Allocates cluster IPs and node ports of services. See `pool.ts` for the locking and `repair.ts` for values leaked by
 * a process that ended.
 */
import { clone } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Service, ServiceSpec } from '../../schemas/api/core/services.js'
import { invalid } from '../../schemas/status.js'
import type { Backend } from '../../storage/backend.js'
import type { Allocated, Allocation } from '../allocation.js'
import type { ResourceStore } from '../resource-store.js'
import { EVERYTHING } from '../verbs/list-request.js'
import { list } from '../verbs/list.js'
import { newAddresses, isHeadless, settleFamilies, type Family } from './families.js'
import { AddressKeys } from './address-keys.js'
import { AddressPools } from './address-pools.js'
import { addressesOf, allocatesNodePorts, nodePortsOf } from './service-values.js'
import { Pool, type PoolObserver } from './pool.js'
import { addressValues, canonicalAddress, portValues, type AddressValues } from './value-range.js'
import { AllocationAttempt, type ValueNames } from './value-allocation.js'
import { hasAddresses, hasNodePorts, needsHealthCheckPort } from '../../schemas/api/core/service-types.js'

export interface ServiceRanges {
  /** CIDRs, at most one per IP family; the first is the default. */
  readonly clusterIPRanges: readonly string[]
  /** Both inclusive. Default 30000 to 32767. */
  readonly nodePorts?: { readonly from: number, readonly to: number } | undefined
}

export interface ServiceAllocationOptions extends ServiceRanges {
  readonly backend: Backend
  /** For example `/registry`. */
  readonly prefix: string
  /** Keeps the first addresses of each range for services that ask for them. Default false. */
  readonly keepsFirst?: boolean
  readonly log: (message: string, error: unknown) => void
  /** Observes the addresses of a range. Default none. */
  readonly observe?: (range: string) => PoolObserver
  /**
   * The IPAddresses, where addresses are objects too; undefined while they are not served. Default: addresses are none.
   */
  readonly objects?: () => ResourceStore | undefined
}

const ADDRESS: ValueNames = { one: 'IP', many: 'IPs', provided: name => `the provided IP (${name})` }
const PORT: ValueNames = { one: 'port', many: 'ports', provided: () => 'provided port' }
const NOTHING: Allocated = { commit: async () => {}, revert: async () => {} }

/** Upstream's: a sixteenth of the range, within bounds. */
const [FEWEST_KEPT, MOST_KEPT] = [16, 256]
const kept = (size: number): number =>
  size < FEWEST_KEPT ? 0 : Math.min(MOST_KEPT, Math.max(FEWEST_KEPT, Math.floor(size / FEWEST_KEPT)))

/** The names of all IPAddresses. */
async function namesOf (store: ResourceStore | undefined): Promise<string[]> {
  if (store === undefined) return []
  const scope = store.keys.scope('')
  return (await list(store, EVERYTHING)).entries.map(({ key }) => key.slice(scope.length))
}

export class ServiceAllocation implements Allocation {
  /** The pools of `--service-cluster-ip-range`, one for each IP family; services get the first family by default. */
  readonly addresses: ReadonlyMap<Family, Pool>
  /** The pools of all ServiceCIDRs in use. */
  readonly pools: AddressPools
  readonly nodePorts: Pool
  readonly #options: ServiceAllocationOptions

  /** @throws TypeError for an invalid range */
  constructor (options: ServiceAllocationOptions) {
    const { backend, prefix, clusterIPRanges, nodePorts: { from, to } = { from: 30_000, to: 32_767 } } = options
    this.#options = options
    const ranges = clusterIPRanges.map(text => addressValues(text))
    // The first address is reserved for the server's own service.
    this.addresses = new Map(ranges.map(slots =>
      [slots.family, this.#poolOf(slots, slots === ranges[0] ? { reserved: 0 } : {})]))
    this.pools = new AddressPools(
      new Map([...this.addresses.values()].map(pool => [pool.slots.range, pool])), slots => this.#poolOf(slots, {})
    )
    if (ranges.length === 0 || this.addresses.size < ranges.length) {
      throw new TypeError(
        `${clusterIPRanges.join(',')}: there is one range of service addresses, or one of each IP family`
      )
    }
    this.nodePorts = new Pool({ backend, slots: portValues(from, to), scope: `${prefix}/ranges/servicenodeports/` })
  }

  #poolOf (slots: AddressValues, more: { readonly reserved?: number }): Pool {
    const { backend, prefix, observe, objects, keepsFirst = false } = this.#options
    const scope = `${prefix}/ranges/serviceips/`
    return new Pool({
      slots, scope, observer: observe?.(slots.range), last: keepsFirst ? kept(slots.size) : 0, ...more,
      ...objects === undefined
        ? { backend }
        : { backend: new AddressKeys(backend, scope, objects), others: async () => await namesOf(objects()) }
    })
  }

  /** For example `/registry`. */
  get prefix (): string { return this.#options.prefix }
  get backend (): Backend { return this.#options.backend }
  get families (): readonly Family[] { return [...this.addresses.keys()] }

  /** The first address of the first range, for the server's own service. */
  get firstAddress (): string {
    const [pool] = this.addresses.values()
    return pool?.slots.nameOf(0) ?? ''
  }

  async allocate (object: ApiObject, old: ApiObject | undefined, dryRun: boolean): Promise<Allocated> {
    const service = object as Service // stores of services contain services
    const { spec, metadata: { namespace = '', name = '', uid = '' } } = service
    const before = (old as Service | undefined)?.spec
    const sent = clone(spec)
    const findings = settleFamilies(spec, before, this.families)
    if (findings.length > 0) throw invalid({ group: '', kind: 'Service' }, name, findings)
    const attempt = new AllocationAttempt({ namespace, name, uid }, dryRun)
    const revert = async (): Promise<void> => {
      service.spec = sent
      await this.#quietly(() => attempt.releaseAll())
    }
    try {
      await this.#takeAddresses(spec, before, attempt)
      await this.#takePorts(spec, before, attempt)
      await this.#takeHealthCheckPort(spec, before, attempt)
    } catch (error) {
      await revert()
      throw error
    }
    if (dryRun) return { ...NOTHING, revert }
    return { revert, commit: async () => { if (before !== undefined) await this.#release(before, uid, spec) } }
  }

  async release (object: ApiObject): Promise<void> {
    const { spec, metadata: { uid = '' } } = object as Service // stores of services contain services
    await this.#release(spec, uid)
  }

  async #takeAddresses (spec: ServiceSpec, before: ServiceSpec | undefined, attempt: AllocationAttempt): Promise<void> {
    if (!hasAddresses(spec) || isHeadless(spec)) return
    const isNew = newAddresses(spec, before)
    const addresses = [...spec.clusterIPs ?? []]
    for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
      if (!isNew(index)) continue
      const first = this.addresses.get(family as Family)
      if (first === undefined) continue // the family had a range when the address was allocated
      const wanted = addresses[index] ?? ''
      if (wanted === '') addresses[index] = await attempt.any(this.pools.of(family as Family), 'serviceIP')
      else {
        const explain = (why: string): { field: string, value: unknown, detail: string } => ({
          field: 'spec.clusterIPs', value: spec.clusterIPs, detail: `failed to allocate IP ${wanted}: ${why}`
        })
        const name = canonicalAddress(wanted) ?? wanted
        const pool = this.pools.holding(name) ?? (this.#options.objects === undefined ? first : undefined)
        if (pool === undefined) attempt.refuse(explain('the provided network does not match the current range'))
        await attempt.named(pool, name, explain, ADDRESS)
      }
    }
    if (addresses.length === 0) return
    spec.clusterIPs = addresses
    spec.clusterIP = addresses[0] ?? ''
  }

  async #takePorts (spec: ServiceSpec, before: ServiceSpec | undefined, attempt: AllocationAttempt): Promise<void> {
    if (!hasNodePorts(spec)) return
    const held = before === undefined ? new Set<number>() : nodePortsOf(before)
    const ports = spec.ports ?? []
    // On create, ports with the same number and different protocols share a node port.
    const byPort = new Map<number, number>()
    for (const [index, port] of ports.entries()) {
      const wanted = port.nodePort ?? 0
      if (wanted === 0 && !allocatesNodePorts(spec)) continue
      const shared = before === undefined ? byPort.get(port.port) : undefined
      const requested = wanted !== 0
        ? wanted
        : shared ?? (before === undefined
          ? ports.find(({ port: number, nodePort = 0 }) => number === port.port && nodePort !== 0)?.nodePort ?? 0
          : 0)
      if (requested === 0) port.nodePort = Number(await attempt.any([this.nodePorts], 'nodePort'))
      else {
        if (requested !== shared && !held.has(requested)) {
          await attempt.named(this.nodePorts, String(requested), why =>
            ({ field: `spec.ports[${index}].nodePort`, value: requested, detail: why }), PORT)
          if (before !== undefined) held.add(requested)
        }
        port.nodePort = requested
      }
      if (!byPort.has(port.port)) byPort.set(port.port, port.nodePort)
    }
  }

  async #takeHealthCheckPort (
    spec: ServiceSpec, before: ServiceSpec | undefined, attempt: AllocationAttempt
  ): Promise<void> {
    if (!needsHealthCheckPort(spec)) return
    const wanted = spec.healthCheckNodePort ?? 0
    if (wanted === 0) spec.healthCheckNodePort = Number(await attempt.any([this.nodePorts], 'HealthCheck NodePort'))
    else if (before === undefined || !needsHealthCheckPort(before)) { // otherwise immutable, which validation checks
      await attempt.named(this.nodePorts, String(wanted), why =>
        ({ field: 'spec.healthCheckNodePort', value: wanted, detail: why }), PORT)
    }
  }

  /** Releases values of `spec` that `now` lacks. */
  async #release (spec: ServiceSpec, uid: string, now?: ServiceSpec): Promise<void> {
    const keptAddresses = new Set(now === undefined ? [] : addressesOf(now).map(({ name }) => name))
    const keptPorts = now === undefined ? new Set<number>() : nodePortsOf(now)
    for (const { family, name } of addressesOf(spec)) {
      const pool = this.pools.holding(name) ?? this.addresses.get(family)
      if (pool !== undefined && !keptAddresses.has(name)) await this.#quietly(() => pool.releaseOwned(name, uid))
    }
    for (const port of nodePortsOf(spec)) {
      if (!keptPorts.has(port)) await this.#quietly(() => this.nodePorts.releaseOwned(String(port), uid))
    }
  }

  /** Logs failures; the repair controller frees the values later. */
  async #quietly (work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.log('an address or node port of a service could not be given back yet', error)
    }
  }
}
