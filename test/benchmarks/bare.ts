/** The common part of both bare servers: the bytes they send, and how they split a large response. */
import { readFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { CHUNK_BYTES } from '../../answers/chunks.js'

const [one = '{}', list = '', certificate = '', key = ''] = process.argv.slice(2)

export const small = Buffer.from(readFileSync(one))
const large = readFileSync(list)
export const tls = { cert: readFileSync(certificate), key: readFileSync(key) }

interface Receiver {
  write: (bytes: Uint8Array) => boolean
  end: () => unknown
  once: (event: 'drain', then: () => void) => unknown
}

export async function sendPieces (receiver: Receiver): Promise<void> {
  for (let at = 0; at < large.length; at += CHUNK_BYTES) {
    if (!receiver.write(large.subarray(at, at + CHUNK_BYTES))) {
      await new Promise<void>(resolve => { receiver.once('drain', resolve) })
    }
  }
  receiver.end()
}

/** Watching clients: /event is sent to all at once, /burst together with everything else of the event loop turn. */
export class Audience {
  readonly watchers = new Set<{ write: (bytes: Uint8Array) => unknown }>()
  #pending: Uint8Array[] = []

  send (event: Uint8Array): void {
    for (const watcher of this.watchers) watcher.write(event)
  }

  sendThisTurn (event: Uint8Array): void {
    if (this.#pending.push(event) > 1) return
    setImmediate(() => {
      const batch = Buffer.concat(this.#pending)
      this.#pending = []
      this.send(batch)
    })
  }
}

/** Sends the server's address to the benchmark, and ends with it. */
export function announce (server: Server): void {
  server.listen(0, '127.0.0.1', () => { process.send?.((server.address() as AddressInfo).port) })
  process.on('disconnect', () => { process.exit() })
}
