/** GET of a collection. */
import type { ListAnswer, Verb } from '../../answers/answer.js'
import { list } from '../../registry/verbs/list.js'
import type { Source } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { withSpan } from '../../registry/trace.js'
import { mayReadFrom } from '../past.js'
import { refuseContradictions } from '../list-options.js'
import { listRequest } from '../query.js'

export function listVerb (store: ResourceStore): Verb {
  return async (request): Promise<ListAnswer> => {
    const { query } = request.orch
    refuseContradictions(query, 'list', store.gates)
    const result = await withSpan(request.orch.trace, 'List from storage', () => {
      const listed = listRequest(request.orch, store)
      return list(store, listed, mayReadFrom(request, store))
    })
    return { kind: 'list', store, list: result, warnings: request.orch.warnings }
  }
}

/** All objects of a virtual type, in one page. */
export function listSourceVerb (store: ResourceStore, source: Source): Verb {
  return async (request): Promise<ListAnswer> => {
    const { info, warnings } = request.orch
    const { labels, fields } = listRequest(request.orch, store)
    const entries = (await source())
      .filter(({ metadata }) => info.namespace === '' || metadata.namespace === info.namespace)
      .map(object =>
        store.entries.unstored(store.keys.of(object.metadata.namespace ?? '', object.metadata.name ?? ''), object))
      .filter(entry => labels.matches(entry.labels) && (fields.empty || fields.matches(entry.fields)))
    const all = { revision: undefined, entries, continue: '', remaining: undefined }
    return { kind: 'list', store, list: all, warnings }
  }
}
