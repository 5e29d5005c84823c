/** Subresources with another message than their object, such as scale: read from the object and written into it. */
import { toJson } from '../../schemas/codec/json/encode.js'
import { applyDefaults } from '../../schemas/language/defaults.js'
import type { SubresourceView } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { invalid, isStatusError, notFound, type FieldError } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ObjectAnswer, Verb, VerbRequest } from '../../answers/answer.js'
import { get } from '../../registry/verbs/get.js'
import type { Target } from '../../registry/write-context.js'
import { changeBy } from '../../registry/verbs/change.js'
import { matchTarget, requireUid } from '../../registry/stages/identity.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { Facts } from '../../schemas/language/types.js'
import { decodeBody } from '../body.js'
import { text } from '../query.js'
import { patchOf } from './patch.js'
import { contextOf, targetOf } from './write.js'
import { checkFieldManager, fieldValidation } from '../write-options.js'

/** The view of a stored object. */
const readView = (store: ResourceStore, view: SubresourceView, entry: Entry): ApiObject => {
  const object = store.entries.read(entry)
  view.check?.(object)
  return view.read(object)
}

interface Viewed { readonly store: ResourceStore, readonly view: SubresourceView, readonly target: Target }

/** Writes the desired view into the object. @throws StatusError 400, 422 */
function withView ({ store, view, target }: Viewed, entry: Entry, old: ApiObject, desired: ApiObject): ApiObject {
  const { name } = target
  matchTarget(store, desired, target)
  const findings: FieldError[] = []
  view.validate?.(desired, finding => { findings.push(finding) })
  const { type } = view.message[Facts]
  if (findings.length > 0) throw invalid({ group: type?.group ?? '', kind: type?.kind ?? '' }, name, findings)
  requireUid(desired, old, target, {
    ...store.resource, resource: `${store.resource.resource}/${target.subresource ?? ''}`
  })
  const object = entry.copy()
  const { resourceVersion } = desired.metadata
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
  view.write(object, desired)
  return object
}

export function viewAnswer (
  { orch: { warnings } }: VerbRequest, store: ResourceStore, view: SubresourceView, entry: Entry
): ObjectAnswer {
  const object = readView(store, view, entry)
  return {
    kind: 'object', message: view.message, object, code: 200, warnings,
    forms: { store, tabular: view }
  }
}

/**
 * @throws StatusError 404 that names the view; as upstream, a view in the core group is reported with the group of its
 * message
 */
async function getBase (
  store: ResourceStore, { message }: SubresourceView, { namespace, name, subresource = '' }: Target,
  resourceVersion: string
): Promise<Entry> {
  try {
    return await get(store, namespace, name, resourceVersion)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const { group, resource } = store.resource
    throw notFound(
      { group: group === '' ? message[Facts].type?.group ?? '' : group, resource: `${resource}/${subresource}` }, name
    )
  }
}

export function readViewVerb (store: ResourceStore, view: SubresourceView): Verb {
  return async request => {
    const { info, query } = request.orch
    const entry = await getBase(store, view, info, text(query, 'resourceVersion'))
    return viewAnswer(request, store, view, entry)
  }
}

export function updateViewVerb (store: ResourceStore, view: SubresourceView): Verb {
  return async request => {
    checkFieldManager(request)
    const [target, validation] = [targetOf(request), fieldValidation(request)]
    const entry = await changeBy(store, function * () {
      const desired = yield * decodeBody(request, view.message, validation)
      applyDefaults(view.message, desired)
      return { make: (base, old) => withView({ store, view, target }, base, old, desired) }
    }, target, contextOf(request))
    return viewAnswer(request, store, view, entry)
  }
}

export function patchViewVerb (store: ResourceStore, view: SubresourceView): Verb {
  return async request => {
    const target = targetOf(request)
    const entry = await changeBy(store, function * () {
      const { apply, decode } = yield * patchOf(request, store, view.message)
      return {
        make: function * (base, old) {
          const before = view.read(store.entries.read(base))
          // JSON that this server encoded
          const patched = yield * apply(JSON.parse(toJson(view.message, before)) as ApiObject)
          view.checkPatched?.(patched, before)
          const desired = decode(patched)
          applyDefaults(view.message, desired)
          return withView({ store, view, target }, base, old, desired)
        }
      }
    }, target, contextOf(request))
    return viewAnswer(request, store, view, entry)
  }
}
