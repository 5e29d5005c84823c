/** Which state a list reads. (Interface: List paging, Resource version semantics.) */
import { quote } from '../../schemas/quote.js'
import { badRequest, expired, type StatusError } from '../../schemas/status.js'
import type { Revision } from '../../storage/backend.js'
import { decodeToken, encodeToken, NEWEST } from './continue-token.js'
import { parseRevision } from './get.js'
import type { ListRequest } from './list-request.js'

export type State =
  | { readonly kind: 'newest', readonly from: string | undefined }
  | { readonly kind: 'notOlderThan', readonly revision: string, readonly from: undefined }
  | { readonly kind: 'exact', readonly revision: Revision, readonly from: string | undefined }

const EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
    'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
    'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
    'deleted between the time the first chunk was returned and now may show up in the list.'
const TOO_OLD = 'The resourceVersion for the provided list is too old.'

/** The 410 contains a token to continue the list inconsistently, at the newest state. */
export const tooOld = (from: string | undefined): StatusError =>
  from === undefined ? expired(TOO_OLD) : expired(EXPIRED, encodeToken({ revision: NEWEST, next: from }))

export const FOREIGN_TOKEN = 'invalid continue token: it is none of this server; start the list again'

/**
 * Looks up the combination of parameters in the interface's table.
 * @throws StatusError 400 for invalid combinations
 */
export function stateOf (
  { limit, continue: token, resourceVersion, resourceVersionMatch: match }: Pick<
    ListRequest, 'limit' | 'continue' | 'resourceVersion' | 'resourceVersionMatch'
  >
): State {
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw badRequest(
      `resourceVersionMatch: Unsupported value: ${quote(match)}: supported values: "Exact", "NotOlderThan", ""`
    )
  }
  if (match !== '' && resourceVersion === '') {
    throw badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided')
  }
  if (token !== '') {
    if (match !== '') throw badRequest('resourceVersionMatch is forbidden when continue is provided')
    const decoded = decodeToken(token)
    if (decoded === undefined) throw badRequest(FOREIGN_TOKEN)
    const { revision, next } = decoded
    if (resourceVersion !== '' && parseRevision(resourceVersion) !== 0 && parseRevision(resourceVersion) !== revision) {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return revision === NEWEST ? { kind: 'newest', from: next } : { kind: 'exact', revision, from: next }
  }
  if (resourceVersion === '') return { kind: 'newest', from: undefined }
  const revision = parseRevision(resourceVersion)
  if (match === 'Exact' && revision === 0) {
    throw badRequest('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (match === 'Exact' || (match === '' && limit > 0 && revision !== 0)) {
    return { kind: 'exact', revision, from: undefined }
  }
  return { kind: 'notOlderThan', revision: resourceVersion, from: undefined }
}
