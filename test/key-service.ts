/**
 * A key service for tests, of both versions: gRPC at a socket of its own. It encrypts keys with AES-GCM, counts its
 * calls and fails on request.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import type { Test } from './build.js'
import { addService, serveAt, type Answers } from './grpc-service.js'

const { root } = protobuf.parse(`syntax = "proto3"; package v1beta1;
message VersionRequest { string version = 1; }
message VersionResponse { string version = 1; string runtime_name = 2; string runtime_version = 3; }
message DecryptRequest { string version = 1; bytes cipher = 2; }
message DecryptResponse { bytes plain = 1; }
message EncryptRequest { string version = 1; bytes plain = 2; }
message EncryptResponse { bytes cipher = 1; }`)

const v2 = protobuf.parse(`syntax = "proto3"; package v2;
message StatusRequest {}
message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
message DecryptResponse { bytes plaintext = 1; }
message EncryptRequest { bytes plaintext = 1; string uid = 2; }
message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }`).root

interface NewRequest {
  readonly ciphertext: Buffer
  readonly plaintext: Buffer
  readonly uid: string
  readonly keyId: string
  readonly annotations: Record<string, Buffer>
}

interface Request { readonly version: string, readonly cipher: Buffer, readonly plain: Buffer }

export class TestKeyService {
  readonly calls = { Version: 0, Status: 0, Encrypt: 0, Decrypt: 0 }
  version = 'v1beta1'
  /** Of version 2: what it says of itself. */
  status = { version: 'v2', healthz: 'ok', keyId: 'key-1' }
  /** Of version 2: what it says with an encrypted key, beside its own. */
  encrypted: { keyId?: string, annotations?: Record<string, Buffer> } = {
    annotations: { 'local.example.com': Buffer.from('note') }
  }

  /** Requests of version 2. */
  readonly asked: NewRequest[] = []
  /** Replaces responses. A promise that never resolves simulates a service that hangs. */
  encrypt = (plain: Buffer): Buffer | Promise<Buffer> => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.secret, nonce)
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }

  decrypt = (encrypted: Buffer): Buffer | Promise<Buffer> => {
    const decipher = createDecipheriv('aes-256-gcm', this.secret, encrypted.subarray(0, 12))
    decipher.setAuthTag(encrypted.subarray(-16))
    return Buffer.concat([decipher.update(encrypted.subarray(12, -16)), decipher.final()])
  }

  #server: Server | undefined
  constructor (readonly path: string, readonly secret = randomBytes(32)) {}

  get endpoint (): string { return `unix://${this.path}` }

  async start (): Promise<void> {
    const server = this.#server = new Server()
    const called = (name: string): void => { this.calls[name as keyof typeof this.calls]++ }
    addService(server, { service: 'v1beta1.KeyManagementService', types: root, called }, {
      Version: async () => ({ version: this.version, runtimeName: 'test', runtimeVersion: '1' }),
      Encrypt: async ({ plain }) => ({ cipher: await this.encrypt(plain) }),
      Decrypt: async ({ cipher }) => ({ plain: await this.decrypt(cipher) })
    } satisfies Answers<Request>)
    addService(server, { service: 'v2.KeyManagementService', types: v2, called }, {
      Status: async () => this.status,
      Encrypt: async request => {
        this.asked.push(request)
        return { ciphertext: await this.encrypt(request.plaintext), keyId: this.status.keyId, ...this.encrypted }
      },
      Decrypt: async request => {
        this.asked.push(request)
        return { plaintext: await this.decrypt(request.ciphertext) }
      }
    } satisfies Answers<NewRequest>)
    await serveAt(server, this.path)
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
