import { CallError, socketCalls, type SocketCalls } from '../../clients/socket-calls.js'
import { KeyServiceError } from './key-service-error.js'

/** Calls of a key service, which reject with a KeyServiceError. @param name for errors @param path of the socket */
export function keyServiceCalls (name: string, path: string, version: 'v1beta1' | 'v2'): SocketCalls {
  const { call, close } = socketCalls(path, `${version}.KeyManagementService`)
  return {
    call: request => call(request).catch((error: unknown) => {
      if (!(error instanceof CallError)) throw error
      throw new KeyServiceError(error.status, `the key service ${name} failed: ${request.method}`, error.cause)
    }),
    close
  }
}
