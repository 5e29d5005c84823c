/** A client of a key service (`kms` of an EncryptionConfiguration, version 1) at a local socket. */
import type * as Grpc from '@grpc/grpc-js'
import { onDemand } from '../../schemas/on-demand.js'
import {
  DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, VersionRequest, VersionResponse
} from './key-service.proto.js'
import { KeyServiceError } from './key-service-error.js'

const grpc = onDemand<typeof Grpc>('@grpc/grpc-js')
const VERSION = 'v1beta1'
const PING = Buffer.from('ping')
/** More than any encrypted key. */
const MAX_BYTES = 1024 * 1024

/** All methods reject with a KeyServiceError, after the timeout at the latest. */
export interface KeyService {
  readonly encrypt: (plain: Uint8Array) => Promise<Uint8Array>
  readonly decrypt: (cipher: Uint8Array) => Promise<Uint8Array>
  /** Encrypts and decrypts a text of its own as a test, with a timeout for each. */
  readonly check: () => Promise<void>
  readonly close: () => void
}

/** @param path of the socket @param timeout in milliseconds */
export function keyService (name: string, path: string, timeout: number): KeyService {
  const { Client, credentials, Metadata, logVerbosity, setLogVerbosity, status } = grpc()
  setLogVerbosity(logVerbosity.NONE) // grpc-js would write text from the service to standard error
  const client = new Client(`unix:${path}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': MAX_BYTES,
    'grpc.default_authority': 'localhost',
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.initial_reconnect_backoff_ms': 100
  })
  let checked: Promise<void> | undefined
  let checking: Promise<void> | undefined

  const call = <T>(method: string, request: Uint8Array, decode: (bytes: Buffer) => T, deadline: number): Promise<T> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(`/v1beta1.KeyManagementService/${method}`, Buffer.from, decode, request, new Metadata({
        waitForReady: true
      }), { deadline }, (error, answer) => {
        if (error === null && answer !== undefined) return resolve(answer)
        reject(new KeyServiceError(
          goName(status[error?.code ?? status.UNKNOWN]), `the key service ${name} failed: ${method}`, error
        ))
      })
    })
  const checkVersion = async (deadline: number): Promise<void> => {
    const { version } = await call(
      'Version', VersionRequest.encode({ version: VERSION }).finish(), VersionResponse.decode, deadline
    )
    if (version !== VERSION) {
      throw new KeyServiceError('Unimplemented', `the key service ${name} has another version than ${VERSION}`)
    }
  }
  /** Checks the version once; again after a failure. */
  const ready = (deadline: number): Promise<void> => checked ??= checkVersion(deadline).catch((error: unknown) => {
    checked = undefined
    throw error
  })
  const encrypt = async (plain: Uint8Array): Promise<Uint8Array> => {
    const deadline = Date.now() + timeout
    await ready(deadline)
    return (await call(
      'Encrypt', EncryptRequest.encode({ version: VERSION, plain }).finish(), EncryptResponse.decode, deadline
    )).cipher
  }
  const decrypt = async (cipher: Uint8Array): Promise<Uint8Array> => {
    const deadline = Date.now() + timeout
    await ready(deadline)
    return (await call(
      'Decrypt', DecryptRequest.encode({ version: VERSION, cipher }).finish(), DecryptResponse.decode, deadline
    )).plain
  }
  const check = async (): Promise<void> => {
    if (!PING.equals(await decrypt(await encrypt(PING)))) {
      throw new KeyServiceError('DataLoss', `the key service ${name} decrypts to another text than it encrypted`)
    }
  }
  return {
    encrypt,
    decrypt,
    check: () => checking ??= check().finally(() => { checking = undefined }),
    close: () => { client.close() }
  }
}

/** `DEADLINE_EXCEEDED` as `DeadlineExceeded`, the form in metrics. */
const goName = (name = 'UNKNOWN'): string => name === 'OK'
  ? name
  : name === 'CANCELLED'
    ? 'Canceled'
    : name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())
