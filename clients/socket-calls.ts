/** Calls over gRPC of a service at a local socket: a key service, or one that signs tokens. */
import type * as Grpc from '@grpc/grpc-js'
import { onDemand } from '../schemas/on-demand.js'

const grpc = onDemand<typeof Grpc>('@grpc/grpc-js')
/** More than any answer of these services, whose longest is an encrypted key of 64 KiB; it is decoded in one turn. */
const MAX_BYTES = 128 * 1024

export interface Call<T> {
  readonly method: string
  readonly request: Uint8Array
  readonly decode: (bytes: Buffer) => T
  /** When it fails at the latest, as `Date.now()` counts. */
  readonly deadline: number
}

export interface SocketCalls {
  /** Rejects with a CallError. */
  readonly call: <T>(call: Call<T>) => Promise<T>
  readonly close: () => void
}

/** A call failed; `status` is gRPC's name of the reason, as `Unavailable`. */
export class CallError extends Error {
  constructor (readonly status: string, cause: unknown) {
    super(`the call failed: ${status}`, { cause })
    this.name = 'CallError'
  }
}

/** @param path of the socket @param service with its package, `v2.KeyManagementService` */
export function socketCalls (path: string, service: string): SocketCalls {
  const { Client, credentials, Metadata, logVerbosity, setLogVerbosity, status } = grpc()
  setLogVerbosity(logVerbosity.NONE) // grpc-js would write text from the service to standard error
  const client = new Client(`unix:${path}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': MAX_BYTES,
    'grpc.default_authority': 'localhost',
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.initial_reconnect_backoff_ms': 100
  })
  return {
    call: ({ method, request, decode, deadline }) => new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/${service}/${method}`, Buffer.from, decode, request, new Metadata({ waitForReady: true }), { deadline },
        (error, answer) => {
          if (error === null && answer !== undefined) resolve(answer)
          else reject(new CallError(goName(status[error?.code ?? status.UNKNOWN]), error))
        }
      )
    }),
    close: () => { client.close() }
  }
}

/** `DEADLINE_EXCEEDED` as `DeadlineExceeded`, the form in metrics. */
const goName = (name = 'UNKNOWN'): string => name === 'OK'
  ? name
  : name === 'CANCELLED'
    ? 'Canceled'
    : name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())
