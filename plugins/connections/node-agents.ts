/** Where the agent of a node is, and how it is called: by the address types that are preferred, and the port that the node tells. */
import { isIP } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Lifecycle } from '../../auth/lifecycle.js'
import { TlsFiles, type TlsFilePaths } from '../../clients/tls-files.js'
import { unexplained } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { resolveHost, type Reach } from './addresses.js'
import { find } from './objects.js'

/** Of an agent whose node does not tell it. */
const DEFAULT_PORT = 10_250

export const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const

export interface NodeAgentOptions {
  /** Paths of PEM files. Without a CA bundle the certificates of node agents go unverified, as convention. */
  readonly files?: TlsFilePaths | undefined
  /** Types of node addresses, the most preferred first. Default all, Hostname first. */
  readonly preferredAddressTypes?: readonly string[] | undefined
  /** Milliseconds for a connection to a node agent, and for its answer to an upgrade. Default 5,000. */
  readonly timeout?: number | undefined
}

export interface NodeAgent {
  readonly host: string
  /** Where the host was found, which is where to connect to. */
  readonly address: string
  readonly port: number
}

export class NodeAgents implements Lifecycle {
  readonly name = 'node agents'
  readonly timeout: number
  readonly #types: readonly string[]
  readonly #files: TlsFiles
  readonly #resources: ResourceRegistry
  readonly #reach: Reach

  constructor (resources: ResourceRegistry, reach: Reach, { files = {}, preferredAddressTypes = ADDRESS_TYPES, timeout = 5000 }: NodeAgentOptions) {
    this.#resources = resources
    this.#reach = reach
    this.#types = preferredAddressTypes
    this.#files = new TlsFiles(files)
    this.timeout = timeout
  }

  /** Reads the files, so that a start can fail for them. @throws ClientError 'Config' */
  async start (): Promise<void> { await this.#files.load() }

  /** Whether their certificates are verified. */
  get verifies (): boolean { return this.#files.verifies }

  async secureContext (): Promise<SecureContext> { return await this.#files.current() }

  /** @throws StatusError 404 for a node that is not there, 500 for one without an address, 400 for an address that nothing may be sent to */
  async of (nodeName: string): Promise<NodeAgent> {
    const { status } = await find(this.#resources, 'nodes', '', nodeName)
    const addresses = status.addresses ?? []
    const known = this.#types.map(type => addresses.find(one => one.type === type)).find(one => one !== undefined)
    if (known === undefined) throw unexplained(`no preferred addresses found; known addresses: [${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`)
    const port = status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
    return { host: known.address, address: await resolveHost(known.address, this.#reach), port: port > 0 ? port : DEFAULT_PORT }
  }
}

/** As it stands in a URL. */
export const hostPort = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
