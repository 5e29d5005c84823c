/** Which parameters of a list or watch exclude each other, and what the emulated release makes of some. */
import type { Gates } from '../schemas/gates.js'
import { invalid, type FieldError } from '../schemas/status.js'
import { isTrue } from '../schemas/query-boolean.js'

interface Rules {
  /** Combinations that the interface's table of lists marks invalid are 422 with each cause; otherwise 400. */
  readonly namesCauses: boolean
  /** A negative limit is none; otherwise it is refused. */
  readonly negativeIsNone: boolean
  /** Lists at any version (`resourceVersion=0`) come whole. */
  readonly anyIsWhole: boolean
  /** Watches ignore `continue`; otherwise it is refused. */
  readonly watchesContinue: boolean
}

const EARLIER: Rules = { namesCauses: false, negativeIsNone: false, anyIsWhole: false, watchesContinue: false }
const LATER: Rules = { namesCauses: true, negativeIsNone: true, anyIsWhole: true, watchesContinue: true }

/** Those of the interface, or those of the public project's 1.36. */
export const rulesOf = (gates: Gates): Rules => gates.enabled('ListParametersNameCauses') ? LATER : EARLIER

const MATCH = 'resourceVersionMatch'
const NOT_OLDER = 'NotOlderThan'

/** Whether a watch asks for the state that it begins with, or for none; undefined if its version decides. */
export const sendInitialEvents = (query: URLSearchParams): boolean | undefined =>
  query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined

const forbidden = (detail: string, field = MATCH): FieldError => ({ type: 'FieldValueForbidden', field, detail })

const notSupported = (value: string, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported', field: MATCH, value,
  detail: `supported values: ${supported.map(name => `"${name}"`).join(', ')}`
})

function ofWatch (match: string, isContinued: boolean, isStreamed: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (isStreamed && match !== NOT_OLDER) {
    errors.push(forbidden(`sendInitialEvents requires setting ${MATCH} to ${NOT_OLDER}`))
  }
  if (match === '') return errors
  if (!isStreamed) errors.push(forbidden(`${MATCH} is forbidden for watch unless sendInitialEvents is provided`))
  if (match !== NOT_OLDER) errors.push(notSupported(match, [NOT_OLDER]))
  if (isContinued) errors.push(forbidden(`${MATCH} is forbidden when continue is provided`))
  return errors
}

function ofList (match: string, isContinued: boolean, version: string): FieldError[] {
  const errors: FieldError[] = []
  if (match !== '') {
    if (version === '') errors.push(forbidden(`${MATCH} is forbidden unless resourceVersion is provided`))
    if (isContinued) errors.push(forbidden(`${MATCH} is forbidden when continue is provided`))
    if (match !== 'Exact' && match !== NOT_OLDER) errors.push(notSupported(match, ['Exact', NOT_OLDER, '']))
    if (match === 'Exact' && version === '0') {
      errors.push(forbidden(`${MATCH} "exact" is forbidden for resourceVersion "0"`))
    }
  }
  return errors
}

/** @throws StatusError 422 with every cause */
export function refuseContradictions (query: URLSearchParams, verb: 'list' | 'watch', gates: Gates): void {
  const isStreamed = query.has('sendInitialEvents')
  const match = query.get(MATCH) ?? ''
  if (!isStreamed && (match === '' || (verb === 'list' && !rulesOf(gates).namesCauses))) return
  const isContinued = (query.get('continue') ?? '') !== ''
  const errors = verb === 'watch'
    ? ofWatch(match, isContinued, isStreamed)
    : ofList(match, isContinued, query.get('resourceVersion') ?? '')
  if (verb === 'list' && isStreamed) {
    errors.push(forbidden('sendInitialEvents is forbidden for list', 'sendInitialEvents'))
  }
  if (errors.length > 0) throw invalid({ group: 'meta.orch.io', kind: 'ListOptions' }, '', errors)
}
