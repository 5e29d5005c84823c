/** The options and the interface of a test server. */
import type { ServerOptions } from '../app.js'
import type { TestClock } from './clock.js'
import type { Exchanges } from './exchanges.js'
import type { Fault, Faults } from './faults.js'
import type { Fixture } from './fixtures.js'
import type { ClientConfig } from './kubeconfig.js'
import type { Snapshot } from './snapshot.js'
import type { TestUser } from './users.js'

export interface TestServerOptions {
  /** Loaded before the server is returned. */
  readonly fixtures?: Fixture
  /** Default a free one. */
  readonly port?: number
  /** TLS with HTTP/2, which programs based on client-go need to send a token. Default plain HTTP. */
  readonly tls?: boolean
  /** The user of requests without credentials; false for anonymous. Default an administrator. */
  readonly user?: TestUser | false
  /** The clock is held from the start, at this time. Default it runs. */
  readonly now?: Date
  /** The state to start with, its time included. Default empty. */
  readonly from?: Snapshot
  /** Injected from the start; loading fixtures is spared. */
  readonly faults?: readonly Fault[]
  /** Seed of the random choices of faults. Default a random one, which `server.faults.seed` returns. */
  readonly seed?: number
  /** Number of exchanges that are kept. Default 1,000. */
  readonly exchanges?: number
  /** Writes warnings and errors of the server to standard error, such as the cause of a 500. Default false. */
  readonly log?: boolean
  /** Options of the server, as of the plugin. Default everybody may do everything. */
  readonly server?: Omit<ServerOptions, 'storage' | 'clock'>
}

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, with TLS `https://…`. */
  readonly url: string
  /** PEM, for clients to trust; undefined without TLS. */
  readonly certificateAuthority: string | undefined
  /** The time of the server: timestamps, lifetimes of objects and tokens, timeouts of requests and watches, bookmarks. */
  readonly clock: TestClock
  /** What clients have asked, and what they got. */
  readonly exchanges: Exchanges
  /** Faults to inject. */
  readonly faults: Faults
  /** The bearer token of any user. */
  token: (user: TestUser) => string
  /** @param user default: that of requests without credentials */
  kubeconfig: (user?: TestUser) => string
  /** Writes the kubeconfig to a file that only its owner may read. @returns its absolute path */
  writeKubeconfig: (file: string, user?: TestUser) => Promise<string>
  /** For `loadFromOptions` of a KubeConfig of `@kubernetes/client-node`. */
  clientConfig: (user?: TestUser) => ClientConfig
  /** Loads more fixtures. @throws Error that names the fixture, and why it was refused */
  load: (fixtures: Fixture) => Promise<void>
  /** The state now, for the option `from`. */
  snapshot: () => Snapshot
  /**
   * Another server with the same objects and resourceVersions, the same options and the same time, from then on independent. It injects no fault and
   * has an empty log of exchanges.
   */
  fork: () => Promise<TestServer>
  /** Closes every connection and the server; nothing of it keeps the process alive. Idempotent. */
  dispose: () => Promise<void>
}
