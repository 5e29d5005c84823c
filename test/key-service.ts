/** A key service for tests: gRPC at a socket of its own. It encrypts keys with AES-GCM, counts its calls and fails on request. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server, ServerCredentials, status, type UntypedHandleCall } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import type { Test } from './build.js'

const { root } = protobuf.parse(`syntax = "proto3"; package v1beta1;
message VersionRequest { string version = 1; }
message VersionResponse { string version = 1; string runtime_name = 2; string runtime_version = 3; }
message DecryptRequest { string version = 1; bytes cipher = 2; }
message DecryptResponse { bytes plain = 1; }
message EncryptRequest { string version = 1; bytes plain = 2; }
message EncryptResponse { bytes cipher = 1; }`)

interface Request { readonly version: string, readonly cipher: Buffer, readonly plain: Buffer }

export class TestKeyService {
  readonly calls = { Version: 0, Encrypt: 0, Decrypt: 0 }
  version = 'v1beta1'
  /** Replaces responses. A promise that never resolves simulates a service that hangs. */
  encrypt = (plain: Buffer): Buffer | Promise<Buffer> => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.secret, nonce)
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }

  decrypt = (encrypted: Buffer): Buffer | Promise<Buffer> => {
    const decipher = createDecipheriv('aes-256-gcm', this.secret, encrypted.subarray(0, 12)).setAuthTag(encrypted.subarray(-16))
    return Buffer.concat([decipher.update(encrypted.subarray(12, -16)), decipher.final()])
  }

  #server: Server | undefined
  constructor (readonly path: string, readonly secret = randomBytes(32)) {}

  get endpoint (): string { return `unix://${this.path}` }

  async start (): Promise<void> {
    const server = this.#server = new Server()
    const handler = (method: keyof TestKeyService['calls'], answer: (request: Request) => Promise<object>): UntypedHandleCall => (call: { request: Request }, done: (error: object | null, value?: object) => void) => {
      this.calls[method]++
      answer(call.request).then(value => { done(null, value) }, (error: unknown) => { done(error instanceof Error && 'code' in error && typeof error.code === 'number' ? error : { code: status.UNKNOWN, details: 'no such key' }) })
    }
    const definition = Object.fromEntries((['Version', 'Encrypt', 'Decrypt'] as const).map(name => {
      const [request, response] = [root.lookupType(`v1beta1.${name}Request`), root.lookupType(`v1beta1.${name}Response`)]
      return [name, {
        path: `/v1beta1.KeyManagementService/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: (value: object) => Buffer.from(request.encode(request.create(value)).finish()),
        requestDeserialize: (bytes: Buffer) => request.toObject(request.decode(bytes), { defaults: true, bytes: Buffer }),
        responseSerialize: (value: object) => Buffer.from(response.encode(response.create(value)).finish()),
        responseDeserialize: (bytes: Buffer) => response.decode(bytes)
      }]
    }))
    server.addService(definition as never, {
      Version: handler('Version', async () => ({ version: this.version, runtimeName: 'test', runtimeVersion: '1' })),
      Encrypt: handler('Encrypt', async ({ plain }) => ({ cipher: await this.encrypt(plain) })),
      Decrypt: handler('Decrypt', async ({ cipher }) => ({ plain: await this.decrypt(cipher) }))
    })
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.path}`, ServerCredentials.createInsecure(), error => { if (error === null) resolve(); else reject(error) })
    })
  }

  /** Ends connections and removes the socket. */
  async stop (): Promise<void> {
    this.#server?.forceShutdown()
    this.#server = undefined
    await rm(this.path, { force: true })
  }
}

/** @param started false for a socket that does not exist yet */
export async function keyServiceOf (t: Test, started = true): Promise<TestKeyService> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-kms-'))
  const service = new TestKeyService(join(folder, 'kms.sock'))
  t.teardown(async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })
  if (started) await service.start()
  return service
}
