/** Relays bytes between a client and a back end after a protocol upgrade. */
import type { Socket } from 'node:net'
import { pipePaced } from '../../../answers/paced.js'

interface Upgraded {
  readonly socket: Socket
  /** Bytes already read from it. */
  readonly head: Buffer
}

/** Idle milliseconds allowed in one direction after the other has ended. */
const LINGER = 30_000

/**
 * Forwards half-closes: the other direction stays open. Both end when both have ended, when one fails, or on `signal`.
 * Buffers no more than the two sockets do.
 * @param perSecond bytes in each direction; 0 means unlimited
 */
export function joinConnections (
  client: Socket, { socket: backend, head }: Upgraded, signal: AbortSignal, perSecond: number
): void {
  const end = (): void => {
    signal.removeEventListener('abort', end)
    client.destroy()
    backend.destroy()
  }
  const half = (from: Socket, to: Socket): void => {
    from.on('error', end)
    from.once('end', () => {
      to.setTimeout(LINGER, end)
      from.setTimeout(LINGER, end)
    })
    from.once('close', () => {
      // Flush what has been read.
      if (from.readableEnded && !to.destroyed) to.destroySoon()
      else end()
    })
  }
  if (signal.aborted) {
    end()
    return
  }
  signal.addEventListener('abort', end, { once: true })
  client.setTimeout(0)
  backend.setTimeout(0)
  half(client, backend)
  half(backend, client)
  if (head.length > 0) backend.unshift(head)
  pipePaced(client, backend, perSecond)
  pipePaced(backend, client, perSecond)
  client.once('close', () => { signal.removeEventListener('abort', end) })
}
