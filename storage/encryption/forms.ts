/** The forms of stored values: one for each configured key, `orch:enc:PROVIDER:v1:NAME:` before the encrypted value. */
import { protocolOf, type ProviderConfiguration } from '../../schemas/api/apiserver/encryption.js'
import { quote } from '../../schemas/quote.js'
import { aesCbc, aesGcm, secretbox, type Cipher } from './cipher.js'

export interface StoredForm {
  readonly prefix: Buffer
  /** Undefined for values as they are. */
  readonly cipher: Cipher | undefined
  /** Values of `transformer_prefix` in metrics when reading and writing: of the provider, then of the key. */
  readonly readLabels: readonly string[]
  readonly writeLabels: readonly string[]
}

export type KeyServiceConfiguration = NonNullable<ProviderConfiguration['kms']>

const ENCRYPTED = Buffer.from('orch:enc:')

/** True for values that an encryption provider wrote. */
export const isEncrypted = (stored: Uint8Array): boolean => startsWith(stored, ENCRYPTED)

/** A value without encryption has no prefix, so its form is that of all values without one. */
export const isOf = ({ prefix, cipher }: StoredForm, stored: Uint8Array): boolean =>
  cipher === undefined ? !isEncrypted(stored) : startsWith(stored, prefix)

const startsWith = (stored: Uint8Array, start: Buffer): boolean => stored.length >= start.length &&
  start.compare(stored, 0, start.length) === 0

// as upstream
const IDENTITY: StoredForm = { prefix: Buffer.alloc(0), cipher: undefined, readLabels: ['identity'], writeLabels: [''] }

/** Longer names of keys are cut in errors. */
const MAX_NAME = 100

/** Names provider and key of an encrypted value, for errors: `aesgcm with the key "one"`. */
export function keyOf (stored: Uint8Array): string {
  const start = Buffer.from(stored.buffer, stored.byteOffset, Math.min(stored.length, MAX_NAME + 20)).toString('latin1')
  const [, , provider = '', , name = ''] = start.split(':')
  return `${provider} with the key ${quote(Buffer.from(name, 'latin1').toString())}`
}

/** The forms of a provider, in order of its keys. */
export async function formsOf (
  { aesgcm, aescbc, secretbox: box, kms }: ProviderConfiguration,
  keyService: (configuration: KeyServiceConfiguration) => Cipher
): Promise<StoredForm[]> {
  const formsPerKey = async (
    provider: string, keys: ReadonlyArray<{ name: string, secret: string }> = [],
    cipher: (secret: Buffer) => Cipher | Promise<Cipher>
  ): Promise<StoredForm[]> =>
    await Promise.all(keys.map(async ({ name, secret }) =>
      form(`orch:enc:${provider}:v1:`, `${name}:`, await cipher(Buffer.from(secret, 'base64')))))
  if (aesgcm !== undefined) return await formsPerKey('aesgcm', aesgcm.keys, aesGcm)
  if (aescbc !== undefined) return await formsPerKey('aescbc', aescbc.keys, aesCbc)
  if (box !== undefined) return await formsPerKey('secretbox', box.keys, secretbox)
  return [kms === undefined ? IDENTITY : form(`orch:enc:kms:${protocolOf(kms)}:${kms.name}:`, '', keyService(kms))]
}

function form (provider: string, key: string, cipher: Cipher): StoredForm {
  const labels = key === '' ? [provider] : [provider, key]
  return { prefix: Buffer.from(provider + key), cipher, readLabels: labels, writeLabels: labels }
}
