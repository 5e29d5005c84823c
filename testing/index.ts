/**
 * API servers for tests: in memory, on a free port of the loopback interface, ready in milliseconds.
 *
 *     import { testServer } from 'orch-apiserver/testing'
 *
 *     await using server = await testServer({ fixtures: ['test/fixtures'] })
 *     const config = new KubeConfig()
 *     config.loadFromOptions(server.clientConfig())
 *
 * @packageDocumentation
 */
export { testServer } from './server.js'
export type { ServerOptions } from '../app.js'
export type { Duration, TestClock } from './clock.js'
export type { Exchange, ExchangeMatch, Exchanges } from './exchanges.js'
export type { Break, Fault, Faults, InjectedFault } from './faults.js'
export type { Fixture } from './fixtures.js'
export type { ClientConfig } from './kubeconfig.js'
export type { RequestMatch } from './match.js'
export type { Snapshot } from './snapshot.js'
export type {
  Expression, SimulateOptions, Simulated, Stage, StageContext, StageNext, StageSelector, Written
} from './simulator/stage.js'
export type { TestServer, TestServerOptions } from './contract.js'
export type { TestUser } from './users.js'
export type { InstalledWebhooks, WebhookOptions } from './webhooks.js'
