/** GET of one object. */
import { notFound } from '../../schemas/status.js'
import { entryAnswer, type Verb } from '../../answers/answer.js'
import { get } from '../../registry/verbs/get.js'
import type { Source } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { withSpan } from '../../registry/trace.js'
import { text } from '../query.js'

/** GET of a virtual object. */
export function getSourceVerb (store: ResourceStore, source: Source): Verb {
  return async request => {
    const { namespace, name } = request.orch.info
    const object = (await source()).find(({ metadata }) => metadata.name === name &&
      (metadata.namespace ?? '') === namespace)
    if (object === undefined) throw notFound(store.resource, name)
    return entryAnswer(request, store, store.entries.unstored(store.keys.of(namespace, name), object))
  }
}

/** Answers at once where the cache has the object. */
export function getVerb (store: ResourceStore): Verb {
  return request => {
    const { info, query, trace } = request.orch
    const result = get(store, info.namespace, info.name, query.size === 0 ? '' : text(query, 'resourceVersion'))
    if (!(result instanceof Promise)) return entryAnswer(request, store, result)
    return withSpan(trace, 'Get from storage', () => result).then(entry => entryAnswer(request, store, entry))
  }
}
