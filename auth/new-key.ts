/** Makes key pairs. */
import { generateKeyPairSync } from 'node:crypto'

export interface NewKeyPair {
  /** PKCS #8 in PEM. */
  readonly privateKey: string
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer
}

/**
 * A new pair on the curve P-256. It is encoded while it is made: in Node 20 the process hangs for ever when garbage is
 * collected while somebody reads a KeyObject that was made here, because what made it takes the same lock to end. Since
 * Node 22 it does not, and KeyObjects would do.
 */
export const newKeyPair = (): NewKeyPair => generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
})
