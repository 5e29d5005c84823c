/** A client of a key service (`kms` of an EncryptionConfiguration, version 1) at a local socket. */
import {
  DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, VersionRequest, VersionResponse
} from './key-service.proto.js'
import { keyServiceCalls } from './key-service-calls.js'
import { KeyServiceError } from './key-service-error.js'

const VERSION = 'v1beta1'
const PING = Buffer.from('ping')

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
  const { call, close } = keyServiceCalls(name, path, VERSION)
  let checked: Promise<void> | undefined
  let checking: Promise<void> | undefined

  const checkVersion = async (deadline: number): Promise<void> => {
    const { version } = await call({
      method: 'Version', request: VersionRequest.encode({ version: VERSION }).finish(),
      decode: VersionResponse.decode, deadline
    })
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
    return (await call({
      method: 'Encrypt', request: EncryptRequest.encode({ version: VERSION, plain }).finish(),
      decode: EncryptResponse.decode, deadline
    })).cipher
  }
  const decrypt = async (cipher: Uint8Array): Promise<Uint8Array> => {
    const deadline = Date.now() + timeout
    await ready(deadline)
    return (await call({
      method: 'Decrypt', request: DecryptRequest.encode({ version: VERSION, cipher }).finish(),
      decode: DecryptResponse.decode, deadline
    })).plain
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
    close
  }
}
