/** What the instance decorator `fastify.orch` offers to plugins and routes. Each member is set by the plugin that owns it. */
import type { Metrics } from './metrics.js'
import type { Health } from './health.js'
import type { Shutdown } from './shutdown.js'

export interface OrchServer {
  /** `plugins/metrics.ts` */
  metrics: Metrics
  /** `plugins/health.ts`: checks are added by whoever can fail. */
  health: Health
  /** `plugins/shutdown.ts` */
  shutdown: Shutdown
}
