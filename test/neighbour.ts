/** Another program on the same etcd, with keys of its own below `/other`, which it changes all the time. */
import { openEtcd, type EtcdOptions } from '../storage/etcd/backend.js'
import { done } from './contracts/backend.js'
import type { Teardown } from './etcd-process.js'
import { until } from './interop/server.js'

const KEYS = 20
/** Writes of each key per second; a thousand in total. */
const A_SECOND = 50
const MINUTE = 60_000
const VALUE = Buffer.alloc(1000, 'x')

export interface Neighbour {
  /** Number of writes so far. */
  readonly writes: () => number
  /** Resolves after that many more writes. */
  readonly more: (writes: number) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Writes until it is stopped, or the test ends. */
export function startNeighbour (t: Teardown, options: EtcdOptions): Neighbour {
  const backend = openEtcd({ ...options, prefix: '/other' })
  const over = new AbortController()
  let written = 0
  let failure: unknown
  const write = async (key: string): Promise<void> => {
    let revision = done(await backend.create(key, VALUE))
    const began = performance.now()
    for (let n = 1; !over.signal.aborted; n++) {
      const early = began + n * 1000 / A_SECOND - performance.now()
      if (early > 0) await new Promise(resolve => { setTimeout(resolve, early) })
      revision = done(await backend.update(key, VALUE, revision))
      written++
    }
  }
  const all = Promise.all(Array.from({ length: KEYS }, (_, at) => write(`/other/${at}`)))
    .catch((error: unknown) => { failure = error })
  const stop = async (): Promise<void> => {
    over.abort()
    await all
    await backend.close()
  }
  t.teardown(stop)
  return {
    writes: () => written,
    more: async writes => {
      const target = written + writes
      await until(`${writes} writes of the neighbour`, () => {
        if (failure !== undefined) throw failure
        return written >= target
      }, MINUTE)
    },
    stop
  }
}
