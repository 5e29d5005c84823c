/** Checks `caBundle`: the certificates by which this server recognises a conversion webhook. */
import { X509Certificate } from 'node:crypto'
import type { CustomResourceConversion } from '../conversion.js'

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** What is wrong with them; undefined if nothing is, and if there are none. */
export function caBundleFinding (conversion: CustomResourceConversion | undefined): string | undefined {
  const { caBundle = '' } = conversion?.webhook?.clientConfig ?? {}
  if (conversion?.strategy !== 'Webhook' || caBundle === '') return undefined
  const blocks = Buffer.from(caBundle, 'base64').toString('latin1').match(BLOCK)
  if (blocks === null) return 'unable to load root certificates: there is no PEM block of type CERTIFICATE'
  try {
    for (const block of blocks) new X509Certificate(block).raw.at(0)
    return undefined
  } catch {
    return 'unable to load root certificates: a PEM block is no certificate'
  }
}
