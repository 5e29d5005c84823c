/** Profiles of this process, taken by V8 for so many seconds. One at a time: each slows the server a little. */
import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeCpu, encodeHeap } from './encode.js'

/** Microseconds between two looks at the processor. */
const CPU_INTERVAL = 1000
/** Bytes between two looks at allocations, on average. */
const HEAP_INTERVAL = 64 * 1024

export type ProfileKind = 'profile' | 'heap'

/** @param signal ends it early: what there is until then is what is answered */
export async function takeProfile (kind: ProfileKind, seconds: number, signal: AbortSignal): Promise<Buffer> {
  const session = new Session()
  session.connect()
  const startedAt = new Date()
  const since = performance.now()
  const wait = async (): Promise<number> => {
    await sleep(seconds * 1000, undefined, { signal }).catch(() => {}) // whoever waited has gone
    return performance.now() - since
  }
  try {
    if (kind === 'heap') {
      await session.post('HeapProfiler.enable')
      await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL })
      const milliseconds = await wait()
      const { profile } = await session.post('HeapProfiler.stopSampling')
      return await encodeHeap(profile, startedAt, milliseconds, HEAP_INTERVAL)
    }
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL })
    await session.post('Profiler.start')
    const milliseconds = await wait()
    const { profile } = await session.post('Profiler.stop')
    return await encodeCpu(profile, startedAt, milliseconds, CPU_INTERVAL)
  } finally {
    session.disconnect()
  }
}
