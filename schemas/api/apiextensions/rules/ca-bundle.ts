/** Checks `caBundle`: the certificates by which this server recognises a conversion webhook. */
import { certificatesProblem } from '../../../rules/pem-certificates.js'
import type { CustomResourceConversion } from '../conversion.js'

/** What is wrong with them; undefined if nothing is, and if there are none. */
export function caBundleFinding (conversion: CustomResourceConversion | undefined): string | undefined {
  const { caBundle = '' } = conversion?.webhook?.clientConfig ?? {}
  if (conversion?.strategy !== 'Webhook' || caBundle === '') return undefined
  const problem = certificatesProblem(Buffer.from(caBundle, 'base64').toString('latin1'))
  return problem === undefined ? undefined : `unable to load root certificates: ${problem}`
}
