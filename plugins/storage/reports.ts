/**
 * Reports on the stores: their health, their size, and whether they lack space for values, each a check and a metric.
 *
 * Space: the disk of an embedded store is this server's own, so it leaves the balancer; an etcd is that of all servers,
 * which would all leave at once, and with them the deletes that free space. In readyz only, as a restart does not help.
 */
import { RELEASE_NAME } from '../../schemas/meta/release.js'
import type { Encryption } from '../../storage/encryption/index.js'
import type { Store } from '../../storage/open.js'
import type { Metrics } from '../shared/metric-series.js'
import type { Having } from '../shared/plugin.js'
import type { StorageOptions } from './options.js'

/** Milliseconds of a check. */
const TIMEOUT = 2000

interface Included { readonly healthz: boolean, readonly livez: boolean, readonly counts: boolean }

interface Reports {
  readonly health: { readonly add: (name: string, check: () => void, included: Included) => void }
  readonly metrics: Metrics
}

interface Reported {
  readonly stores: readonly Store[]
  readonly encryption: Encryption | undefined
  readonly timeouts: Pick<StorageOptions, 'healthcheckTimeout' | 'readycheckTimeout'>
}

export function reportOn (
  fastify: Having<'orchHealth' | 'orchMetrics' | 'orchSettings'>,
  { stores, encryption, timeouts: { healthcheckTimeout: timeout = TIMEOUT, readycheckTimeout = TIMEOUT } }: Reported
): void {
  const { orchHealth: health, orchMetrics: metrics, orchSettings: settings } = fastify
  stores.forEach(({ backend, name, endpoint }, at) => {
    health.add(at === 0 ? 'etcd' : `etcd-override-${at - 1}`, () => backend.status(), { timeout })
    // Probes of later releases ask for it by name.
    if (at === 0 && settings.featureGates.release !== RELEASE_NAME) {
      health.add('etcd-readiness', () => backend.status(), {
        timeout: readycheckTimeout, healthz: false, livez: false
      })
    }
    metrics.trackStore(name, () => backend.status(), endpoint)
  })
  encryption?.checks.forEach(({ name, check }) => { health.add(name, check) })
  observeSpace({ health, metrics }, stores)
}

function observeSpace ({ health, metrics }: Reports, stores: readonly Store[]): void {
  const reporting = stores.filter(({ backend }) => backend.shortage !== undefined)
  const help = '1 while the store refuses values because it has no space for them, else 0.'
  const full = metrics.gauge('apiserver_storage_out_of_space', help, ['store'])
  const series = reporting.map(({ backend, name }) => ({ backend, gauge: full.with(name) }))
  metrics.beforeScrape(() => {
    for (const { backend, gauge } of series) gauge.set(backend.shortage?.() === undefined ? 0 : 1)
  })
  const add = (name: string, of: readonly Store[], counts: boolean): void => {
    if (of.length === 0) return
    health.add(name, () => {
      for (const { backend } of of) {
        const shortage = backend.shortage?.()
        if (shortage !== undefined) throw shortage
      }
    }, { healthz: false, livez: false, counts })
  }
  add('storage-space', reporting.filter(({ endpoint }) => endpoint === undefined), true)
  add('etcd-space', reporting.filter(({ endpoint }) => endpoint !== undefined), false)
}
