/** Records V8 profiles of this process. Only one at a time, because each slows the server. */
import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeCpu, encodeHeap } from './encode.js'

/** Microseconds between CPU samples. */
const CPU_INTERVAL = 1000
/** Average bytes between heap samples. */
const HEAP_INTERVAL = 64 * 1024

export type ProfileKind = 'profile' | 'heap'

/** @param signal ends the profile early; it then covers the time until the abort */
export async function takeProfile (kind: ProfileKind, seconds: number, signal: AbortSignal): Promise<Buffer> {
  const session = new Session()
  session.connect()
  const startedAt = new Date()
  const since = performance.now()
  const wait = async (): Promise<number> => {
    await sleep(seconds * 1000, undefined, { signal }).catch(() => {}) // aborted: the client has disconnected
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
