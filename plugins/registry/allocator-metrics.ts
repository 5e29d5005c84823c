/** Metrics of service address allocation by range, with upstream's names. */
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import type { PoolObserver } from '../../registry/services/pool.js'
import type { Metrics } from '../shared/metric-series.js'

const NAME = 'orch_apiserver_clusterip_allocator'

export function observeAddresses ({ counter }: Metrics): (range: string) => PoolObserver {
  const taken = counter(`${NAME}_allocation_total`, 'Addresses that services were given.', ['cidr'])
  const failed = counter(`${NAME}_allocation_errors_total`, 'Addresses that services requested in vain.', ['cidr'])
  return range => {
    const [given, refused] = [taken.with(range), failed.with(range)]
    return { taken: () => { given.add() }, refused: () => { refused.add() } }
  }
}

export function observeRanges ({ gauge, beforeScrape }: Metrics, { pools }: ServiceAllocation): void {
  const allocated = gauge(
    `${NAME}_allocated_ips`, 'Addresses of services that are taken, as far as this server has seen.', ['cidr']
  )
  const available = gauge(
    `${NAME}_available_ips`, 'Addresses of services that are free, as far as this server has seen.', ['cidr']
  )
  beforeScrape(() => {
    for (const { slots: { range, size }, taken } of pools.all) {
      allocated.with(range).set(taken)
      available.with(range).set(size - taken)
    }
  })
}
