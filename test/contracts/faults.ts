/**
 * Writes and watches while the connection or the store fails. Every write is classified: done at a revision, refused,
 * or of unknown outcome. Afterwards the store's own history tells the truth.
 */
import type { Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Backend, Revision } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import { Observed } from './observed.js'

/** Milliseconds between two operations of a writer: many are under way at any moment of trouble all the same. */
const PAUSE = 5

interface Claim {
  readonly key: string
  readonly value: string
  readonly outcome: 'done' | 'refused' | 'nothing' | 'unknown'
  readonly revision: Revision
}

/**
 * Sixteen writers create, update and delete until `trouble` is over. `judge` is a back end on the same store that had
 * no trouble; the truth is read from it.
 */
export async function writeThroughTrouble (
  t: Test, backend: Backend, judge: () => Promise<Backend>, trouble: () => Promise<void>
): Promise<void> {
  const start = `/faults/${process.pid}-${Date.now()}/`
  const end = start.slice(0, -1) + '0'
  const begin = await backend.revision()
  const watch = new Observed(backend, start, end, begin)
  const claims: Claim[] = []
  const over = new AbortController()
  const writer = async (name: number) => {
    for (let i = 0; !over.signal.aborted; i++) {
      await sleep(PAUSE)
      const key = `${start}w${name}`
      const value = `${name}-${i}`
      const claim = (outcome: Claim['outcome'], revision: Revision) => {
        claims.push({ key, value, outcome, revision })
      }
      try {
        const { kv } = await backend.get(key)
        const gone = kv !== undefined && i % 7 === 6
        const result = kv === undefined
          ? await backend.create(key, Buffer.from(value))
          : gone
            ? await backend.delete(key, kv.modRevision)
            : await backend.update(key, Buffer.from(value), kv.modRevision)
        if (gone) continue
        claim(result.succeeded ? 'done' : 'refused', result.revision)
      } catch (error) {
        if (!(error instanceof StorageError)) throw error
        if (error.code !== 'Unavailable' && error.code !== 'UnknownOutcome') throw error
        claim(error.code === 'Unavailable' ? 'nothing' : 'unknown', 0)
      }
    }
  }
  const writers = Array.from({ length: 16 }, (_, name) => writer(name))
  await trouble().finally(() => over.abort())
  await Promise.all(writers)

  const truth = await judge()
  const newest = await truth.revision()
  const history = new Observed(truth, start, end, begin)
  await history.upTo(newest)
  await watch.upTo(newest)
  const written = new Map<string, Revision>()
  for (const { type, kv } of history.events) {
    if (type === 'put') written.set(`${kv.key} ${Buffer.from(kv.value).toString()}`, kv.modRevision)
  }
  const lies = claims.filter(({ key, value, outcome, revision }) => {
    const at = written.get(`${key} ${value}`)
    return outcome === 'done' ? at !== revision : outcome === 'unknown' ? false : at !== undefined
  })
  t.same(lies.slice(0, 5), [], 'the reported outcome of each write is what the store holds')
  t.ok(claims.some(({ outcome }) => outcome === 'done'), 'some writes came through')
  t.same(
    watch.events.map(event => event.kv.modRevision), history.events.map(event => event.kv.modRevision),
    'the watch missed and repeated nothing'
  )
  t.same(watch.faults, [])
  t.equal(watch.end, undefined, 'the watch went on')
  const counts = claims.reduce<Record<string, number>>(
    (sums, { outcome }) => ({ ...sums, [outcome]: (sums[outcome] ?? 0) + 1 }), {}
  )
  t.comment(JSON.stringify(counts))
  watch.watch.cancel()
  history.watch.cancel()
  await truth.close()
}
