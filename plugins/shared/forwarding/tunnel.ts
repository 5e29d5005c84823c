/** Relays bytes between a client and a back end after a protocol upgrade. */
import type { Socket } from 'node:net'
import { pipePaced } from '../../../answers/paced.js'

interface Upgraded {
  readonly socket: Socket
  /** Bytes already read from it. */
  readonly head: Buffer
}

/** How long connections stay joined, and how fast. */
export interface Joining {
  /** Aborted to end both. */
  readonly ending: AbortSignal
  /** Bytes in each direction; 0 means unlimited. */
  readonly perSecond: number
  /** Reports a failure of the back end's connection. */
  readonly failed: (error: Error) => void
}

/** Joins the client's connection with the back end's until both end, or `ending`. */
export type Join = (client: Socket, backend: Upgraded, joining: Joining) => void

/** Idle milliseconds allowed in one direction after the other has ended. */
const LINGER = 30_000

/**
 * Forwards half-closes: the other direction stays open. Both end when both have ended, when one fails, or on `ending`.
 * Buffers no more than the two sockets do.
 */
export const joinConnections: Join = (client, { socket: backend, head }, { ending, perSecond, failed }) => {
  const end = (): void => {
    ending.removeEventListener('abort', end)
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
  if (ending.aborted) {
    end()
    return
  }
  ending.addEventListener('abort', end, { once: true })
  client.setTimeout(0)
  backend.setTimeout(0)
  backend.once('error', failed)
  half(client, backend)
  half(backend, client)
  if (head.length > 0) backend.unshift(head)
  pipePaced(client, backend, perSecond)
  pipePaced(backend, client, perSecond)
  client.once('close', () => { ending.removeEventListener('abort', end) })
}
