/** Validation of PriorityLevelConfigurations. */
import type { Report } from '../../../language/types.js'
import { forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import { isOn } from '../../../gates.js'
import { sharesOf } from '../shares.js'
import type {
  ExemptPriorityLevelConfiguration, LimitedPriorityLevelConfiguration, LimitResponse, PriorityLevelConfiguration,
  QueuingConfiguration
} from '../v1beta1.js'

/** The release of v1, in which levels lend seats and may have no share. */
const LENDING = '1.29'
const MAX_QUEUES = 10_000_000
/** Random bits that dealing a hand of queues may need. */
const MAX_ENTROPY_BITS = 60

export function validatePriorityLevel (level: PriorityLevelConfiguration, report: Report): void {
  const { metadata: { name = '' }, spec: { type, limited, exempt } } = level
  if ((name === 'exempt') !== (type === 'Exempt')) {
    invalid(report, 'spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")
  }
  if (type === 'Exempt') {
    if (limited !== undefined) forbidden(report, 'spec.limited', 'must not be set if the type is not Limited')
    if (exempt !== undefined) validateExempt(exempt, 'spec.exempt', report)
  } else if (type !== 'Limited') notSupported(report, 'spec.type', type, ['Exempt', 'Limited'])
  else {
    if (exempt !== undefined) forbidden(report, 'spec.exempt', 'must be nil if the type is Limited')
    if (limited === undefined) required(report, 'spec.limited', 'must not be empty when type is Limited')
    else validateLimited(limited, 'spec.limited', report)
  }
  if (isAsFixed(level)) return
  const but = name === 'exempt' && isOn(report, LENDING) ? " except the 'spec.exempt' field" : ''
  invalid(report, 'spec', { type, limited }, `spec of '${name}'${but} must equal the fixed value`)
}

/** The specs of `exempt`, but for what it reserves, and `catch-all` are fixed. */
function isAsFixed (level: PriorityLevelConfiguration): boolean {
  const { metadata: { name }, spec: { type, limited, exempt } } = level
  if (name === 'exempt') return type === 'Exempt' && limited === undefined
  return name !== 'catch-all' ||
    (type === 'Limited' && exempt === undefined && sharesOf(level) === 5 && isCatchAll(limited))
}

const isCatchAll = (limited: LimitedPriorityLevelConfiguration | undefined): boolean =>
  limited?.limitResponse.type === 'Reject' && limited.limitResponse.queuing === undefined &&
    (limited.lendablePercent ?? 0) === 0 && limited.borrowingLimitPercent === undefined

const NOT_NEGATIVE = 'must be a non-negative integer'

function validatePercent (percent: number | undefined, at: string, report: Report): void {
  if (percent !== undefined && (percent < 0 || percent > 100)) {
    invalid(report, at, percent, 'must be between 0 and 100, inclusive')
  }
}

function validateExempt (
  { nominalConcurrencyShares: shares = 0, lendablePercent }: ExemptPriorityLevelConfiguration, at: string,
  report: Report
): void {
  if (shares < 0) invalid(report, `${at}.nominalConcurrencyShares`, shares, NOT_NEGATIVE)
  validatePercent(lendablePercent, `${at}.lendablePercent`, report)
}

function validateLimited (limited: LimitedPriorityLevelConfiguration, at: string, report: Report): void {
  const { assuredConcurrencyShares: shares = 0, lendablePercent, borrowingLimitPercent: borrowing } = limited
  if (isOn(report, LENDING)) {
    if (shares < 0) invalid(report, `${at}.nominalConcurrencyShares`, shares, NOT_NEGATIVE)
  } else if (shares <= 0) invalid(report, `${at}.assuredConcurrencyShares`, shares, 'must be positive')
  validateResponse(limited.limitResponse, at, report)
  validatePercent(lendablePercent, `${at}.lendablePercent`, report)
  if (borrowing !== undefined && borrowing < 0) {
    invalid(report, `${at}.borrowingLimitPercent`, borrowing, `if specified, ${NOT_NEGATIVE}`)
  }
}

function validateResponse ({ type, queuing }: LimitResponse, at: string, report: Report): void {
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
