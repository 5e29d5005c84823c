/** The objects of the benchmarks: ConfigMaps with 2 KiB of data, 2.4 KB as sent. */
import { call, pool } from './http1.js'
import type { Child } from './process.js'

export const CONFIGS = '/api/v1/namespaces/default/configmaps'

export const key = (at: number): string => `object-${String(at).padStart(7, '0')}`

/** One in ten is labelled `tenth=yes`. */
export function object (name: string, tenth = false, size = 2048): string {
  return JSON.stringify({
    metadata: { name, labels: { app: 'bench', ...(tenth ? { tenth: 'yes' } : {}) } }, data: { text: 'x'.repeat(size) }
  })
}

/** As many as keep a server busy: more would cost a handshake each. */
const FILLERS = 8

/** Creates that many objects through the server. */
export async function fill ({ port }: Child, count: number): Promise<void> {
  await pool(count, FILLERS, async at => {
    const { code } = await call(port, 'POST', CONFIGS, object(key(at), at % 10 === 0))
    if (code !== 201) throw new Error(`create answered ${code}`)
  })
}

/** A version from which a watch of this collection can start without initial events. */
export async function newestVersion (port: number, collection = CONFIGS): Promise<string> {
  const { body } = await call(port, 'GET', `${collection}?limit=1`)
  return /"resourceVersion":"(\d+)"/.exec(body())?.[1] ?? ''
}
