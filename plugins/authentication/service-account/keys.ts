/**
 * Parses PEM keys of service account tokens. RSA and ECDSA only, and one algorithm per key, so that a token cannot
 * choose how it is verified.
 */
import { createHash, createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto'
import { newKeyPair } from '../../../auth/new-key.js'
import type { JsonWebKey } from '../../../auth/service-account-tokens.js'

export interface TokenKey {
  /** Derived from the public key, identical on every server: `kid` in token headers. */
  readonly id: string
  readonly algorithm: string
  readonly publicKey: KeyObject
}

export interface SigningKey extends TokenKey { readonly privateKey: KeyObject }

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g
/** By Node's curve names. */
const CURVES: ReadonlyMap<string | undefined, string> = new Map([
  ['prime256v1', 'ES256'], ['secp384r1', 'ES384'], ['secp521r1', 'ES512']
])
/** Minimum for RS256 (RFC 7518, 3.3). */
const MIN_BITS = 2048

/**
 * Public keys of a PEM text with public keys, private keys or certificates.
 * @throws Error for an invalid or missing key
 */
export function parseTokenKeys (pem: string): TokenKey[] {
  refuseEncrypted(pem)
  const keys: TokenKey[] = []
  for (const [block, label = ''] of pem.matchAll(BLOCK)) {
    if (label === 'EC PARAMETERS') continue // precedes a key, which includes the parameters
    keys.push(tokenKey(publicKeyOf(block, label, keys.length + 1)))
  }
  if (keys.length === 0) throw new Error('it has no RSA or ECDSA key in PEM')
  return keys
}

/** The last key: it is parsed when options are checked, and again by each server that has them. */
let last: { readonly pem: string, readonly key: SigningKey } | undefined

/** @throws Error for an invalid key */
export function parseSigningKey (pem: string): SigningKey {
  if (last?.pem === pem) return last.key
  refuseEncrypted(pem)
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(pem)
  } catch (error) {
    throw new Error('it has no private key in PEM', { cause: error })
  }
  const key = { ...tokenKey(createPublicKey(privateKey)), privateKey }
  last = { pem, key }
  return key
}

/** A new key, for as long as the server runs. */
export const makeSigningKey = (): SigningKey => parseSigningKey(makeSigningPem())

/** A new private key in PEM. */
export const makeSigningPem = (): string => newKeyPair().privateKey

/** The public key as published. */
export const publicJwk = ({ id, algorithm, publicKey }: TokenKey): JsonWebKey =>
  ({ use: 'sig', ...publicKey.export({ format: 'jwk' }), kid: id, alg: algorithm })

function refuseEncrypted (pem: string): void {
  if (pem.includes('ENCRYPTED')) throw new Error('a key in it is encrypted; give one that is not')
}

function publicKeyOf (block: string, label: string, number: number): KeyObject {
  try {
    return label === 'CERTIFICATE' ? new X509Certificate(block).publicKey : createPublicKey(block)
  } catch (error) {
    throw new Error(
      `block number ${number} of it (${label}) is no key or certificate that can be parsed`, { cause: error }
    )
  }
}

/** @throws Error for a key that is neither RSA nor ECDSA, or too short */
export function tokenKey (publicKey: KeyObject): TokenKey {
  const { asymmetricKeyType, asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} } = publicKey
  const algorithm = asymmetricKeyType === 'rsa'
    ? 'RS256'
    : asymmetricKeyType === 'ec'
      ? CURVES.get(namedCurve)
      : undefined
  if (algorithm === undefined) {
    throw new Error(`its key is of type ${namedCurve ?? asymmetricKeyType}; it must be RSA, or ECDSA on the curve ` +
      'P-256, P-384 or P-521')
  }
  if (asymmetricKeyType === 'rsa' && modulusLength < MIN_BITS) {
    throw new Error(`its RSA key has ${modulusLength} bits; it must have ${MIN_BITS} or more`)
  }
  const id = createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' })).digest('base64url')
  return { id, algorithm, publicKey }
}
