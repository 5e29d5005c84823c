/** Lists the objects that a watch cache begins with. */
import type { Backend, Revision } from '../backend.js'
import { isUnreadable, type StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import type { Entry } from './entry.js'
import type { Listed, StateOptions } from './state.js'

const PAGE = 1000

/** One unreadable object does not hide the others. @throws StorageError as the back end */
export async function listAll (
  { backend, scope, decode }: Pick<StateOptions, 'scope' | 'decode'> & { readonly backend: Backend }
): Promise<Listed> {
  const pairs: Array<[string, Entry]> = []
  const damaged = new Map<string, StorageError>()
  let { start, end } = rangeOf(scope)
  let revision: Revision | undefined
  for (;;) {
    const page = await backend.list({ start, end, limit: PAGE, ...(revision === undefined ? {} : { revision }) })
    revision ??= page.revision
    for (const kv of page.kvs) {
      try {
        pairs.push([kv.key, decode(kv, kv.modRevision)])
      } catch (error) {
        if (!isUnreadable(error)) throw error
        damaged.set(kv.key, error)
      }
      if (turnIsOver()) await nextTurn()
    }
    const last = page.kvs.at(-1)
    if (!page.more || last === undefined) return { revision, pairs, damaged }
    start = `${last.key}\0`
  }
}
