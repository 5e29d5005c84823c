/** Pipes a stream at a limited rate. */
import type { Readable, Writable } from 'node:stream'
import { ByteRate } from '../serving/wire/byte-rate.js'

/** @param perSecond bytes; 0 means unlimited */
export function pipePaced (from: Readable, to: Writable, perSecond: number): void {
  if (perSecond === 0) {
    from.pipe(to)
    return
  }
  const rate = new ByteRate(perSecond)
  let behind = false
  let timer: NodeJS.Timeout | undefined
  /** Bytes over the rate stay in the source's buffer, which delays `end` and stops reading. */
  const move = (): void => {
    timer = undefined
    while (from.readableLength > 0) {
      if (behind || to.writableEnded || to.destroyed) return
      const { piece, wait } = rate.take(from.readableLength)
      if (wait > 0) {
        timer = setTimeout(move, wait)
        return
      }
      behind = !to.write(from.read(piece))
    }
    from.read(0) // triggers the next read or `end`
  }
  from.on('readable', () => { if (timer === undefined) move() })
  from.once('end', () => { to.end() })
  to.on('drain', () => {
    behind = false
    if (timer === undefined) move()
  })
  to.once('close', () => { clearTimeout(timer) })
}
