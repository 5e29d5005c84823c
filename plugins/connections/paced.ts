/** Bytes from one stream to another, no faster than a rate. */
import type { Readable, Writable } from 'node:stream'
import { ByteRate } from '../../schemas/byte-rate.js'

/** @param perSecond 0 is no bound */
export function pipePaced (from: Readable, to: Writable, perSecond: number): void {
  from.pipe(to)
  if (perSecond === 0) return
  const rate = new ByteRate(perSecond)
  let timer: NodeJS.Timeout | undefined
  from.on('data', (chunk: Uint8Array) => {
    const wait = rate.take(chunk.length)
    if (wait === 0 || timer !== undefined) return
    from.unpipe(to)
    from.pause()
    timer = setTimeout(() => {
      timer = undefined
      from.pipe(to)
    }, wait)
  })
  to.once('close', () => { clearTimeout(timer) })
}
