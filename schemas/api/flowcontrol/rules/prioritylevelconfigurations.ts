/** Validation of PriorityLevelConfigurations. */
import type { Report } from '../../../language/types.js'
import { forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import type { LimitedPriorityLevelConfiguration, PriorityLevelConfiguration, QueuingConfiguration } from '../v1beta1.js'

const MAX_QUEUES = 10_000_000
/** Random bits that dealing a hand of queues may need. */
const MAX_ENTROPY_BITS = 60

export function validatePriorityLevel (
  { metadata: { name = '' }, spec: { type, limited } }: PriorityLevelConfiguration, report: Report
): void {
  if ((name === 'exempt') !== (type === 'Exempt')) {
    invalid(report, 'spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")
  }
  if (type === 'Exempt') {
    if (limited !== undefined) forbidden(report, 'spec.limited', 'must not be set if the type is not Limited')
  } else if (type !== 'Limited') notSupported(report, 'spec.type', type, ['Exempt', 'Limited'])
  else if (limited === undefined) required(report, 'spec.limited', 'must not be empty when type is Limited')
  else validateLimited(limited, 'spec.limited', report)
  if (!isAsFixed(name, type, limited)) {
    invalid(report, 'spec', { type, limited }, `spec of '${name}' must equal the fixed value`)
  }
}

/** The specs of `exempt` and `catch-all` are fixed. */
function isAsFixed (name: string, type: string, limited: LimitedPriorityLevelConfiguration | undefined): boolean {
  if (name === 'exempt') return type === 'Exempt' && limited === undefined
  return name !== 'catch-all' || (type === 'Limited' && isCatchAll(limited))
}

const isCatchAll = (limited: LimitedPriorityLevelConfiguration | undefined): boolean =>
  limited?.assuredConcurrencyShares === 5 && limited.limitResponse.type === 'Reject' &&
    limited.limitResponse.queuing === undefined

function validateLimited (
  { assuredConcurrencyShares: shares = 0, limitResponse: { type, queuing } }: LimitedPriorityLevelConfiguration,
  at: string, report: Report
): void {
  if (shares <= 0) invalid(report, `${at}.assuredConcurrencyShares`, shares, 'must be positive')
  const field = `${at}.limitResponse`
  if (type === 'Reject') {
    if (queuing !== undefined) {
      forbidden(report, `${field}.queuing`, 'must not be set if limited.limitResponse.type is not Limited')
    }
  } else if (type !== 'Queue') notSupported(report, `${field}.type`, type, ['Queue', 'Reject'])
  else if (queuing ===
    undefined) required(report, `${field}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')
  else validateQueuing(queuing, `${field}.queuing`, report)
}

function validateQueuing (
  { queues = 0, handSize = 0, queueLengthLimit: length = 0 }: QueuingConfiguration, at: string, report: Report
): void {
  if (length <= 0) invalid(report, `${at}.queueLengthLimit`, length, 'must be positive')
  if (queues <= 0) invalid(report, `${at}.queues`, queues, 'must be positive')
  else if (queues > MAX_QUEUES) invalid(report, `${at}.queues`, queues, `must not be greater than ${MAX_QUEUES}`)
  if (handSize <= 0) invalid(report, `${at}.handSize`, handSize, 'must be positive')
  else if (handSize >
    queues) invalid(report, `${at}.handSize`, handSize, `should not be greater than queues (${queues})`)
  else if (entropyBits(queues, handSize) > MAX_ENTROPY_BITS) {
    invalid(
      report, `${at}.handSize`, handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ` +
        `${MAX_ENTROPY_BITS}`
    )
  }
}

/** As if each card came from the full deck. This is upstream's formula: all servers must accept the same values. */
const entropyBits = (deck: number, hand: number): number => Math.ceil(Math.log2(deck) * hand)
