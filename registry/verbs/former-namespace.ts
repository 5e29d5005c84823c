/**
 * The history of a namespace's name may be that of a former tenant, whose namespace was deleted. A reader with rights
 * in the namespace alone may not see it: versions from before the namespace was made count as expired if it replaced
 * another. What is no longer kept needs no protection.
 */
import type { Backend, Revision } from '../../storage/backend.js'
import { isStorageError } from '../../storage/errors.js'
import { rangeOf } from '../../storage/key.js'
import { unwrap } from '../../storage/wrapped.js'
import type { ResourceStore } from '../resource-store.js'
import { oncePer } from '../../schemas/once-per.js'

/** Whether the reader may see the state of that revision and the changes since then. Rejects as the back end. */
export type MayReadFrom = (revision: Revision) => Promise<boolean>

interface Former { readonly created: Revision, readonly replaced: boolean }

/** By name: when the namespace was made, and whether it replaced another. */
const formerBy = oncePer((_namespaces: ResourceStore) => new Map<string, Former>())
/** Names beyond these are looked up again. */
const MAX_KNOWN = 10_000
/** A compaction during the search ends it. */
const MAX_ATTEMPTS = 3

/**
 * Whether the name was another namespace's before, and the revision is older than the present one. Revisions of another
 * store cannot be compared.
 */
export async function isOfFormer (
  namespaces: ResourceStore, name: string, { backend }: ResourceStore, revision: Revision
): Promise<boolean> {
  if (unwrap(namespaces.backend) !== unwrap(backend)) return false
  const key = namespaces.keys.of('', name)
  const cached = namespaces.cache?.get(key)
  if (cached !== undefined && cached.revision <= revision) return false
  const { kv } = await namespaces.backend.get(key)
  if (kv === undefined || kv.createRevision <= revision) return false
  const names = formerBy(namespaces)
  let former = names.get(name)
  if (former?.created !== kv.createRevision) {
    former = {
      created: kv.createRevision, replaced: await wasDeletedBefore(namespaces.backend, key, kv.createRevision)
    }
    if (names.size >= MAX_KNOWN) names.clear()
    names.set(name, former)
  }
  return former.replaced
}

/** Looks for a deletion of the key in all history that is kept. */
async function wasDeletedBefore (backend: Backend, key: string, created: Revision, attempt = 1): Promise<boolean> {
  // Nothing older than the creation can be read any more, and no event of it would come.
  if (backend.compactedRevision() >= created) return false
  return await new Promise((resolve, reject) => {
    const end = (isDeleted: boolean): void => {
      watch.cancel()
      resolve(isDeleted)
    }
    const watch = backend.watch({
      ...rangeOf(key),
      after: backend.compactedRevision(),
      previous: false,
      onEvents: (events, revision) => {
        if (events.some(({ type, kv }) => type === 'delete' && kv.modRevision < created)) end(true)
        else if (revision >= created) end(false)
      },
      onProgress: revision => { if (revision >= created) end(false) },
      onEnd: error => {
        if (!isStorageError(error, 'Compacted') || attempt === MAX_ATTEMPTS) reject(error)
        else resolve(wasDeletedBefore(backend, key, created, attempt + 1))
      }
    })
  })
}
