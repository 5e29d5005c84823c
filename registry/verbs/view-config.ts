/** Translates the configuration applied to a view, such as scale, into one of the object itself. */
import { decode } from '../../schemas/language/decode.js'
import type { SubresourceView } from '../../schemas/subresource.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { notFound, invalid, type FieldError } from '../../schemas/status.js'
import { Facts } from '../../schemas/language/types.js'
import type { Entry } from '../../storage/cache/entry.js'
import { compare } from '../apply/compare.js'
import { extract } from '../apply/merge.js'
import { shapesOf } from '../apply/shape.js'
import type { ResourceStore } from '../resource-store.js'

/**
 * If the view no longer sets replicas, writes the view's default, zero, instead of the object's own default. In place,
 * before the object's defaults.
 */
export function completeView (view: SubresourceView, object: ApiObject): void {
  if (replicasOf(view.read(object)) === undefined) view.write(object, decode(view.message, {}).object)
}

const replicasOf = (view: object): number | undefined =>
  (view as { spec?: { replicas?: number | null } }).spec?.replicas ?? undefined

/**
 * The configuration in the stored version. Finds the fields behind the view by writing two different views and
 * comparing the results.
 * @throws StatusError 404, 422
 */
export function viewConfig (
  store: ResourceStore, view: SubresourceView, base: Entry | undefined, config: ApiObject
): ApiObject {
  const { name, uid, resourceVersion, namespace } = config.metadata
  if (base === undefined) throw notFound(store.resource, name ?? '')
  const desired = decode(view.message, config).object
  const { metadata: there } = store.entries.read(base)
  Object.assign(desired.metadata, { name: there.name, namespace: there.namespace }) // clients may omit the identity
  const findings: FieldError[] = []
  view.validate?.(desired, finding => { findings.push(finding) })
  const { type } = view.message[Facts]
  if (findings.length > 0) throw invalid({ group: type?.group ?? '', kind: type?.kind ?? '' }, name ?? '', findings)
  const writeView = (scale: ApiObject): ApiObject => {
    const object = base.copy()
    view.write(object, scale)
    return object
  }
  const { owned } = shapesOf(store.stored.message, store.gates)
  const { kind, apiVersion } = store.stored
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined)
  )
  const replicas = replicasOf(config)
  if (replicas === undefined) return { kind, apiVersion, metadata }
  const contrast = decode(view.message, { ...config, spec: { replicas: replicas === 0 ? 1 : 0 } }).object
  const { changed } = compare(owned, writeView(contrast), writeView(desired))
  return { ...extract(owned, writeView(desired), changed) as object, kind, apiVersion, metadata }
}
