/** Which parameters of a list or watch exclude each other. */
import { invalid, type FieldError } from '../schemas/status.js'
import { isTrue } from '../schemas/query-boolean.js'

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

/** What else is wrong with a list that asks for initial events. */
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
  return [...errors, forbidden('sendInitialEvents is forbidden for list', 'sendInitialEvents')]
}

/** @throws StatusError 422 with every cause */
export function refuseContradictions (query: URLSearchParams, verb: 'list' | 'watch'): void {
  const isStreamed = query.has('sendInitialEvents')
  const match = query.get(MATCH) ?? ''
  if (!isStreamed && (verb === 'list' || match === '')) return
  const isContinued = (query.get('continue') ?? '') !== ''
  const errors = verb === 'watch'
    ? ofWatch(match, isContinued, isStreamed)
    : ofList(match, isContinued, query.get('resourceVersion') ?? '')
  if (errors.length > 0) throw invalid({ group: 'meta.orch.io', kind: 'ListOptions' }, '', errors)
}
