/** A store of ConfigMaps on any back end, for tests below HTTP. */
import { decode } from '../../schemas/language/decode.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { parseFieldSelector } from '../../schemas/selectors/fields.js'
import { parseLabelSelector } from '../../schemas/selectors/labels.js'
import { configMaps } from '../stored.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import { AdmissionChain } from '../../admission/chain.js'
import type { AdmissionPlugin } from '../../registry/admission.js'
import type { Backend } from '../../storage/backend.js'
import type { WriteContext } from '../../registry/write-context.js'
import type { ListRequest } from '../../registry/verbs/list-request.js'
import { ResourceStore } from '../../registry/resource-store.js'
import { freezeShared } from '../../storage/cache/shared.js'
import type { Test } from '../build.js'

freezeShared('everything')

export function configMapStore (
  t: Test, backend: Backend,
  options: { mediaType?: 'application/json', admission?: AdmissionPlugin[], windowSize?: number } = {}
): ResourceStore {
  const store = new ResourceStore({
    type: configMaps.type,
    backend,
    prefix: '/registry',
    mediaType: options.mediaType ?? 'application/vnd.orch.protobuf',
    admission: new AdmissionChain(options.admission ?? []),
    windowSize: options.windowSize ?? 100,
    log: () => {}
  })
  t.teardown(async () => {
    store.close()
    await backend.close()
  })
  return store
}

/** Its cache, which must exist. */
export function cacheOf ({ cache }: ResourceStore): WatchCache {
  if (cache === undefined) throw new Error('the store has no cache')
  return cache
}

export const config = (name: string, data: Record<string, string> = {}): ApiObject =>
  decode(configMaps.message, { metadata: { name, namespace: 'default' }, data }).object

export const target = (name: string) => ({ namespace: 'default', name })
export const context: WriteContext = { dryRun: false, caller: new AbortController() }

export const everything: ListRequest = {
  namespace: '', labels: parseLabelSelector(''), fields: parseFieldSelector('', configMaps), limit: 0, continue: '',
  resourceVersion: '', resourceVersionMatch: ''
}
