/** What the instance decorator `fastify.orch` offers to plugins and routes. Each member is set by the plugin that owns it. */
import type { RequestInfo } from '../schemas/request.js'
import type { ResourceRegistry } from '../storage/registry.js'
import type { Health } from './health.js'
import type { Metrics } from './metrics.js'
import type { Shutdown } from './shutdown.js'

export interface OrchServer {
  /** `plugins/metrics.ts` */
  metrics: Metrics
  /** `plugins/health.ts`: checks are added by whoever can fail. */
  health: Health
  /** `plugins/shutdown.ts` */
  shutdown: Shutdown
  /** `plugins/storage.ts`: the served resource types, each added by its route. */
  resources: ResourceRegistry
  /** `plugins/errors.ts`: true where a path is served, if not with this method. */
  knowsPath: (info: RequestInfo) => boolean
  /** Set by `app.ts` for the routes. */
  settings: RouteSettings
}

export interface RouteSettings {
  /** Seconds; a watch ends at a random time between one and two of it. */
  readonly minRequestTimeoutSeconds: number
  readonly deleteCollectionWorkers: number
  /** `group/version` that are not served. */
  readonly disabledGroupVersions: ReadonlySet<string>
  readonly externalHostname: string | undefined
  /** `host:port` for discovery. */
  readonly advertiseAddress: string | undefined
}
