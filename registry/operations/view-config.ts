/** What is applied to a part of an object that is shown as something else, such as its scale, as what is applied to the object. */
import { decode } from '../../schemas/index.js'
import type { ApiObject, SubresourceView } from '../../schemas/index.js'
import { notFound, invalid } from '../../schemas/status.js'
import type { FieldError } from '../../schemas/status.js'
import { Facts } from '../../schemas/language/types.js'
import type { Entry } from '../../storage/cache/entry.js'
import { compare } from '../apply/compare.js'
import { extract } from '../apply/merge.js'
import { shapesOf } from '../apply/shape.js'
import type { ResourceStore } from '../resource-store.js'

/** A number that nobody says any more is none of the object's defaults: a view has no other than zero. In place, before the object's own. */
export function completeView (view: SubresourceView, object: ApiObject): void {
  if (replicasOf(view.read(object)) === undefined) view.write(object, decode(view.message, {}).object)
}

/** Of a scale. */
const replicasOf = (shown: object): number | undefined => (shown as { spec?: { replicas?: number | null } }).spec?.replicas ?? undefined

/**
 * In the version that is stored. Which fields of the object a field of the view stands for, what it writes tells: those that
 * come out different when the view wants different things.
 * @throws StatusError 404, 422
 */
export function viewConfig (store: ResourceStore, view: SubresourceView, base: Entry | undefined, config: ApiObject): ApiObject {
  const { name, uid, resourceVersion, namespace } = config.metadata
  if (base === undefined) throw notFound(store.resource, name ?? '')
  const wanted = decode(view.message, config).object
  const { metadata: there } = base.read()
  Object.assign(wanted.metadata, { name: there.name, namespace: there.namespace }) // which it is, nobody needs to say
  const findings: FieldError[] = []
  view.validate?.(wanted, finding => { findings.push(finding) })
  const { type } = view.message[Facts]
  if (findings.length > 0) throw invalid({ group: type?.group ?? '', kind: type?.kind ?? '' }, name ?? '', findings)
  const written = (scale: ApiObject): ApiObject => {
    const object = base.copy()
    view.write(object, scale)
    return object
  }
  const { owned } = shapesOf(store.stored.message)
  const { kind, apiVersion } = store.stored
  const metadata = Object.fromEntries(Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined))
  const replicas = replicasOf(config)
  if (replicas === undefined) return { kind, apiVersion, metadata }
  const other = decode(view.message, { ...config, spec: { replicas: replicas === 0 ? 1 : 0 } }).object
  const { changed } = compare(owned, written(other), written(wanted))
  return { ...extract(owned, written(wanted), changed) as object, kind, apiVersion, metadata }
}
