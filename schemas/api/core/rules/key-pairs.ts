/** Whether a certificate and a private key belong together. */
import { createPrivateKey, X509Certificate } from 'node:crypto'

/** What a file of that size holds is not a key pair, and would take long to read. */
const MAX_BASE64 = 64 << 10

/** Why they do not, undefined if they do. @param certificate PEM as base64, its chain may follow */
export function keyPairProblem (certificate: string, key: string): string | undefined {
  if (certificate.length > MAX_BASE64 || key.length > MAX_BASE64) return undefined
  const [chain, secret] = [certificate, key].map(text => Buffer.from(text, 'base64'))
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(chain as Buffer)
  } catch {
    return 'tls.crt is no certificate in PEM'
  }
  try {
    return leaf.checkPrivateKey(createPrivateKey(secret as Buffer))
      ? undefined
      : 'the private key is not that of the certificate'
  } catch {
    return 'tls.key is no private key in PEM'
  }
}
