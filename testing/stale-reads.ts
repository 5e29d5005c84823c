/** Answers reads from an older state, as a server whose cache is behind the others' does. */
import type { FastifyReply } from 'fastify'
import { list } from '../registry/verbs/list.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { deprecationWarning } from '../routes/deprecation.js'
import { entryAnswer } from '../answers/answer.js'
import { served, type ServedRequest } from '../answers/request-context.js'
import { sendAnswer } from '../answers/send.js'
import { parseFieldSelector } from '../schemas/selectors/fields.js'
import { NO_LABELS } from '../schemas/selectors/labels.js'
import { notFound } from '../schemas/status.js'
import type { Revision } from '../storage/backend.js'

export interface Staleness {
  /** Number of changes of the type that the state lacks. */
  readonly changes: number
  /** Reads without a resourceVersion get it too. */
  readonly any: boolean
}

/**
 * Lists are read by their own handler, whose query this changes. It knows no older states of single objects, so those
 * are answered here.
 * @returns true if it answers the request
 */
export function readOlder (
  reply: FastifyReply, staleness: Staleness, resources: ResourceRegistry, failed: (error: Error) => void
): boolean {
  const request = served(reply.request)
  const { info, query } = request.orch
  if (!info.isResourceRequest || (info.verb !== 'list' && info.verb !== 'get')) return false
  const store = resources.lookup(info)
  if (store === undefined || store.type.virtual) return false
  const revision = olderRevision(query, store, staleness)
  if (revision === undefined) return false
  if (info.verb === 'list') {
    const older = new URLSearchParams(query)
    older.set('resourceVersion', String(revision))
    older.set('resourceVersionMatch', 'Exact')
    request.orch.setQuery(older)
    return false
  }
  if (!isPlainObject(request, store)) return false
  void objectAt(request, reply, store, revision).catch(failed)
  return true
}

/** Undefined if the request does not accept an older state than the newest, or is invalid. */
function olderRevision (
  query: URLSearchParams, { backend, cache }: ResourceStore, { changes, any }: Staleness
): Revision | undefined {
  const newest = backend.revisionNow()
  const [asked, match, token, limit] = ['resourceVersion', 'resourceVersionMatch', 'continue', 'limit']
    .map(name => query.get(name) ?? '')
  if (cache?.loaded !== true || newest === undefined || token !== '' ||
    (match !== '' && (match !== 'NotOlderThan' || asked === '')) || !/^\d{0,15}$/.test(asked ?? '')) return undefined
  if (asked === '' && !any) return undefined
  const least = Number(asked)
  const isExact = least > 0 && match === '' && Number(limit) > 0
  if (isExact || least > newest) return undefined
  const { window } = cache
  const missing = window.at(Math.max(window.end - changes, window.begin))
  return Math.max(missing === undefined ? newest : missing.revision - 1, least, backend.compactedRevision(), 1)
}

/** True for an object, or a subresource of its kind, such as `status`. */
function isPlainObject (
  { orch: { info } }: ServedRequest, { type: { namespaced }, representation: { kind, subresources } }: ResourceStore
): boolean {
  const subresource = subresources.find(({ name }) => name === info.subresource)
  const isOwn = info.subresource === '' || (subresource !== undefined && subresource.verbs.includes('get') &&
    (subresource.kind ?? kind) === kind && subresource.view === undefined && subresource.connects !== true)
  return isOwn && (namespaced ? info.namespace !== '' : info.namespace === '' || info.namespace === info.name)
}

async function objectAt (
  request: ServedRequest, reply: FastifyReply, store: ResourceStore, revision: Revision
): Promise<void> {
  const { info: { namespace, name }, warnings } = request.orch
  const { entries: [entry] } = await list(store, {
    namespace: store.type.namespaced ? namespace : '',
    labels: NO_LABELS,
    fields: parseFieldSelector(`metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`, store.representation),
    limit: 0,
    continue: '',
    resourceVersion: String(revision),
    resourceVersionMatch: 'Exact'
  })
  if (entry === undefined) throw notFound(store.resource, name)
  const warning = deprecationWarning(store.representation)
  if (warning !== undefined) warnings.push(warning)
  await sendAnswer(request, reply, entryAnswer(request, store, entry))
}
