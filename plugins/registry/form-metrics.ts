/** Metrics of the forms of objects that this process keeps, `storage/cache/forms.ts`; all its servers show the same. */
import { keptForms, type Keeper } from '../../storage/cache/forms-budget.js'
import type { Metrics } from '../shared/metric-series.js'

const LABELS = ['resource', 'form']

export function observeForms ({ counter, gauge, beforeScrape }: Metrics): void {
  const limits = gauge('apiserver_encoded_objects_cache_limit_bytes', 'Memory that forms of objects may use.').with()
  const bytes = gauge('apiserver_encoded_objects_cache_bytes', 'Memory that forms of objects use.', LABELS)
  const hits = counter('apiserver_encoded_objects_cache_hits_total', 'Times a form of an object was kept.', LABELS)
  const misses = counter(
    'apiserver_encoded_objects_cache_misses_total', 'Times a form of an object had to be made.', LABELS
  )
  const reported = new WeakMap<Readonly<Keeper>, Pick<Keeper, 'bytes' | 'hits' | 'misses'>>()
  let before: ReadonlyArray<Readonly<Keeper>> = []

  // Differences, because forms of the same name share a series.
  const report = (keeper: Readonly<Keeper>): void => {
    const last = reported.get(keeper) ?? { bytes: 0, hits: 0, misses: 0 }
    reported.set(keeper, { bytes: keeper.bytes, hits: keeper.hits, misses: keeper.misses })
    bytes.with(keeper.type, keeper.name).add(keeper.bytes - last.bytes)
    hits.with(keeper.type, keeper.name).add(keeper.hits - last.hits)
    misses.with(keeper.type, keeper.name).add(keeper.misses - last.misses)
  }
  beforeScrape(() => {
    const { limit, all } = keptForms()
    limits.set(limit)
    for (const keeper of new Set([...before, ...all])) report(keeper)
    before = [...all]
  })
}
