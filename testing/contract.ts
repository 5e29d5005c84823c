/** The options and the interface of a test server. */
import type { ServerOptions } from '../app.js'
import type { OwnClient } from '../host/contract.js'
import type { Release } from '../schemas/meta/release.js'
import type { TestClock } from './clock.js'
import type { Exchanges } from './exchanges.js'
import type { Fault, Faults } from './faults.js'
import type { Fixture } from './fixtures.js'
import type { ClientConfig } from './kubeconfig.js'
import type { SimulateOptions } from './simulator/stage.js'
import type { Snapshot } from './snapshot.js'
import type { TestUser } from './users.js'
import type { InstalledWebhooks, WebhookOptions } from './webhooks.js'

export interface TestServerOptions {
  /** Loaded before the server is returned. */
  readonly fixtures?: Fixture
  /** Default a free port. */
  readonly port?: number
  /** TLS with HTTP/2, which programs based on client-go need to send a token. Default plain HTTP. */
  readonly tls?: boolean
  /** The user of requests without credentials; false for anonymous. Default an administrator. */
  readonly user?: TestUser | false
  /** Holds the clock from the start, at this time. Default a running clock. */
  readonly now?: Date
  /** The initial state, including its time. Default empty. */
  readonly from?: Snapshot
  /**
   * From the second fork of a state on, the next one is started ahead and is there at once if the state is still the
   * same. Default true.
   */
  readonly forkAhead?: boolean
  /** Injected from the start, but not while fixtures are loaded. */
  readonly faults?: readonly Fault[]
  /** Seed of the random choices of faults. Default a random one, which `server.faults.seed` returns. */
  readonly seed?: number
  /** Maximum number of recorded exchanges. Default 1,000. */
  readonly exchanges?: number
  /** Writes warnings and errors of the server to standard error, such as the cause of a 500. Default false. */
  readonly log?: boolean
  /** The release that the server emulates. Default 1.24, the interface's; with `compatNames` in `server` 1.36. */
  readonly release?: Release
  /**
   * Nodes that stay Ready, pods that are bound to them and run, and stages of the test's own. What is due at once has
   * happened when the server is returned; forks are not started ahead. Default nothing runs.
   */
  readonly simulate?: boolean | SimulateOptions
  /** Options of the server, as for the plugin. By default every user may do everything. */
  readonly server?: Omit<ServerOptions, 'storage' | 'clock'>
}

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, with TLS `https://…`. */
  readonly url: string
  /** PEM, for clients to trust; undefined without TLS. */
  readonly certificateAuthority: string | undefined
  /**
   * The time of the server: timestamps, lifetimes of objects and tokens, timeouts of requests and watches, bookmarks.
   */
  readonly clock: TestClock
  /** Reads and writes objects in this process, as the server itself or as a user; without exchanges and faults. */
  readonly client: OwnClient
  /** Requests of clients and their responses. */
  readonly exchanges: Exchanges
  /** Faults to inject. */
  readonly faults: Faults
  /** The bearer token of any user. */
  token: (user: TestUser) => string
  /** @param user default: the user of requests without credentials */
  kubeconfig: (user?: TestUser) => string
  /** Writes the kubeconfig to a file that only its owner may read. @returns its absolute path */
  writeKubeconfig: (file: string, user?: TestUser) => Promise<string>
  /** For `loadFromOptions` of a KubeConfig of `@kubernetes/client-node`. */
  clientConfig: (user?: TestUser) => ClientConfig
  /** Loads more fixtures. @throws Error that names the fixture, and why it was refused */
  load: (fixtures: Fixture) => Promise<void>
  /**
   * Installs the webhooks of the code under test: configurations as controller-gen writes them, and definitions with a
   * conversion webhook, lead to where it serves instead of to a service. It must serve with the certificate that is
   * returned and written to a folder.
   * @throws Error that names the object, and why it was refused; OptionError
   */
  installWebhooks: (configurations: Fixture, options?: WebhookOptions) => Promise<InstalledWebhooks>
  /** The current state, for the option `from`. */
  snapshot: () => Snapshot
  /**
   * Another server with the same objects, resourceVersions, options and time; independent from then on. It injects no
   * faults, and its exchange log is empty.
   */
  fork: () => Promise<TestServer>
  /** Closes all connections and the server; nothing then keeps the process alive. Idempotent. */
  dispose: () => Promise<void>
}
