/** Bytes in both directions between a client and a node agent or pod, once both have agreed on another protocol. */
import type { Socket } from 'node:net'
import { pipePaced } from './paced.js'

/** Milliseconds in which the one direction has to move something when the other has ended. */
const LINGER = 30_000

/**
 * An end of the one side is told to the other, which may still say what it has to say; both are over when both have ended,
 * when one of them fails, or on `signal`. No more is held than the buffers of two connections.
 * @param head what was read of the backend before
 * @param perSecond bytes in each direction; 0 is no bound
 */
export function joinConnections (client: Socket, backend: Socket, head: Buffer, signal: AbortSignal, perSecond: number): void {
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
      // What has been read already still leaves.
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
