/**
 * Validation of conversion settings. As upstream, paths lack `webhook`: `webhookClientConfig` and
 * `conversionReviewVersions`.
 */
import { isOn } from '../../../gates.js'
import { forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validateClientConfig, validateReviewVersions } from '../../admissionregistration/rules/webhooks.js'
import type { CustomResourceConversion } from '../conversion.js'
import { caBundleFinding } from './ca-bundle.js'
import type { Ratchets } from './ratchets.js'

const STRATEGIES = ['None', 'Webhook']
const UNWANTED = 'should not be set when strategy is not set to Webhook'

export function validateConversion (
  conversion: CustomResourceConversion | undefined, at: string,
  { knownReviews, caBundle }: Pick<Ratchets, 'knownReviews' | 'caBundle'>, report: Report
): void {
  if (conversion === undefined) return
  const { strategy, webhook: { clientConfig, conversionReviewVersions: versions = [] } = {} } = conversion
  const [client, reviews] = [`${at}.webhookClientConfig`, `${at}.conversionReviewVersions`]
  if (strategy === '') required(report, `${at}.strategy`)
  else if (!STRATEGIES.includes(strategy)) notSupported(report, `${at}.strategy`, strategy, STRATEGIES)
  if (strategy !== 'Webhook') {
    if (clientConfig !== undefined) forbidden(report, client, UNWANTED)
    if (versions.length > 0) forbidden(report, reviews, UNWANTED)
    return
  }
  if (clientConfig === undefined) required(report, client, 'required when strategy is set to Webhook')
  else {
    validateClientConfig(clientConfig, client, report)
    const wrong = caBundle && isOn(report, 'DefinitionNeedsCertificates') ? caBundleFinding(conversion) : undefined
    if (wrong !== undefined) invalid(report, `${client}.caBundle`, clientConfig.caBundle ?? '', wrong)
  }
  if (versions.length === 0) required(report, reviews)
  else validateReviewVersions(versions, reviews, report, knownReviews)
}
