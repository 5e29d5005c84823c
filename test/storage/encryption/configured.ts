/** Encrypted back ends for tests, from providers as in a configuration. */
import type { Backend } from '../../../storage/backend.js'
import { openEncryption } from '../../../storage/encryption/index.js'
import type { TransformationObserver } from '../../../storage/encryption/observer.js'
import type { EncryptionOptions, ProviderConfiguration } from '../../../schemas/api/apiserver/encryption.js'
import type { Test } from '../../build.js'

export type Provider = ProviderConfiguration

export const secretOf = (byte: number, length = 32): Buffer => Buffer.alloc(length, byte)
export const key = (name: string, byte: number, length = 32): { name: string, secret: string } => ({
  name, secret: secretOf(byte, length).toString('base64')
})

export const configurationOf = (
  providers: readonly Provider[], resources: readonly string[] = ['secrets']
): EncryptionOptions =>
  ({ resources: [{ resources: [...resources], providers: [...providers] }] })

/** A back end that encrypts in front of another. */
export async function encrypted (
  t: Test, inner: Backend, providers: readonly Provider[], observer?: TransformationObserver
): Promise<Backend> {
  const encryption = await openEncryption(configurationOf(providers), observer)
  t.teardown(() => { encryption.close() })
  return encryption.of('', 'secrets', inner)
}
