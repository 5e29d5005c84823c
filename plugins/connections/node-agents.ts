/**
 * Finds a node's agent by the preferred address types and the port in the node's status, and provides its TLS settings.
 */
import { isIP } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Lifecycle } from '../../auth/lifecycle.js'
import { TlsFiles, type TlsFilePaths } from '../../clients/tls-files.js'
import { unexplained } from '../../schemas/status.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { resolveHost, type AddressPolicy } from './addresses.js'
import { find } from './objects.js'
import { encodePath } from '../shared/forwarding/paths.js'

/** Used if the node's status has no port. */
const DEFAULT_PORT = 10_250

export const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const

export interface NodeAgentOptions {
  /** Paths of PEM files. Without a CA bundle, certificates of node agents are not verified, as upstream. */
  readonly files?: TlsFilePaths | undefined
  /** Types of node addresses in order of preference. Default all, Hostname first. */
  readonly preferredAddressTypes?: readonly string[] | undefined
  /** Milliseconds to connect to a node agent, and for its response to an upgrade. Default 5,000. */
  readonly timeout?: number | undefined
}

interface Surroundings {
  readonly reach: AddressPolicy
  /** A namespace as node agents know it. Default its own name. */
  readonly shownNamespace?: (own: string) => string
  /** Passes WebSockets on to those that declare they end them. */
  readonly passesOn?: boolean
}

/** What an agent declares that ends WebSockets itself. */
const WEB_SOCKETS = 'ExtendWebSocketsToKubelet'

export interface NodeAgent {
  readonly host: string
  /** The resolved address of the host, to connect to. */
  readonly address: string
  readonly port: number
  /** It ends WebSockets of commands and ports itself, of every version. */
  readonly speaksWebSockets: boolean
}

export class NodeAgents implements Lifecycle {
  readonly name = 'node agents'
  readonly timeout: number
  readonly #types: readonly string[]
  readonly #files: TlsFiles
  readonly #resources: ResourceRegistry
  readonly #reach: AddressPolicy
  readonly #shownNamespace: (own: string) => string
  readonly #passesOn: boolean

  constructor (
    resources: ResourceRegistry, { reach, shownNamespace = own => own, passesOn = false }: Surroundings,
    { files = {}, preferredAddressTypes = ADDRESS_TYPES, timeout = 5000 }: NodeAgentOptions
  ) {
    this.#shownNamespace = shownNamespace
    this.#passesOn = passesOn
    this.#resources = resources
    this.#reach = reach
    this.#types = preferredAddressTypes
    this.#files = new TlsFiles(files)
    this.timeout = timeout
  }

  /** Loads the files, so that errors fail the start. @throws ClientError 'Config' */
  async start (): Promise<void> { await this.#files.load() }

  /** True if node agents' certificates are verified. */
  get verifies (): boolean { return this.#files.verifies }

  async secureContext (): Promise<SecureContext> { return await this.#files.current() }

  /** `/exec/NAMESPACE/POD/CONTAINER`, encoded. */
  pathOf (action: string, namespace: string, pod: string, container = ''): string {
    return encodePath(
      `/${action}/${this.#shownNamespace(namespace)}/${pod}${container === '' ? '' : `/${container}`}`
    )
  }

  /** @throws StatusError 404 for an unknown node, 500 without a preferred address, 400 for a disallowed address */
  async of (nodeName: string): Promise<NodeAgent> {
    const { status } = await find(this.#resources, 'nodes', '', nodeName)
    const addresses = status.addresses ?? []
    const preferred = this.#types.map(type => addresses.find(address => address.type === type))
      .find(address => address !== undefined)
    if (preferred === undefined) {
      throw unexplained('no preferred addresses found; known addresses: ' +
        `[${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`)
    }
    const port = status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
    return {
      host: preferred.address,
      address: await resolveHost(preferred.address, this.#reach),
      port: port > 0 ? port : DEFAULT_PORT,
      speaksWebSockets: this.#passesOn && status.declaredFeatures?.includes(WEB_SOCKETS) === true
    }
  }
}

/** Host and port of a URL. */
export const hostPort = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
