/**
 * SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview: ask the authorizers about a hypothetical
 * request, of any user, of the caller, or of any user in the review's namespace.
 */
import type { Attributes, Authorizer } from '../../auth/authorizer.js'
import { pathRequest, resourceRequest, type RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type {
  LocalSubjectAccessReview, NonResourceAttributes, ResourceAttributes, SelfSubjectAccessReview, SubjectAccessReview,
  SubjectAccessReviewSpec, SubjectAccessReviewStatus
} from '../../schemas/api/authorization/accessreviews.js'
import { collect } from '../../schemas/language/validation.js'
import { sameValue } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { badRequest, invalid, listed, type FieldError } from '../../schemas/status.js'
import { reasonOf } from '../../storage/errors.js'
import type { VirtualOperation } from '../../registry/resource-registry.js'
import { selectorsOf, validateSelectors } from './review-selectors.js'

type AccessAttributes = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>

/** Annotation that requests an explanation of the decision. */
const EXPLAIN = 'authorization.orch.io/explain'

/** @param explain the decision in words */
export function accessReviews (authorizer: Authorizer, explain: (attributes: Attributes) => Promise<string>): {
  readonly subject: VirtualOperation, readonly self: VirtualOperation, readonly local: VirtualOperation
} {
  const answer = async (
    user: UserInfo, requested: AccessAttributes,
    { metadata: { annotations } }: Pick<ApiObject, 'metadata'> = { metadata: {} }
  ): Promise<SubjectAccessReviewStatus> => {
    const { selectors, ignored } = selectorsOf(requested.resourceAttributes ?? {})
    const attributes = { user, info: { ...infoOf(requested), ...selectors === undefined ? {} : { selectors } } }
    const { decision, reason: short = '', evaluationError } = await authorizer.authorize(attributes)
    const wrong = [...evaluationError === undefined ? [] : [reasonOf(evaluationError)], ...ignored]
    const reason = annotations?.[EXPLAIN] === 'true' ? await explain(attributes) : short
    return {
      allowed: decision === 'Allow',
      ...(decision === 'Deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(wrong.length === 0 ? {} : { evaluationError: listed(wrong) })
    }
  }
  // Each operation receives objects decoded by its kind's message.
  return {
    subject: {
      run: async object => {
        const review = object as SubjectAccessReview
        refuse(
          review, [...findings(review.spec), ...subjectFindings(review.spec), ...metadataFindings(review, [], true)]
        )
        return { ...review, status: await answer(userOf(review.spec), review.spec, review) }
      }
    },
    self: {
      run: async (object, _target, { caller: { user } }) => {
        const review = object as SelfSubjectAccessReview
        refuse(review, [...findings(review.spec), ...metadataFindings(review, [])])
        if (user === undefined) throw badRequest('no user present on request')
        return { ...review, status: await answer(user, review.spec) }
      }
    },
    local: {
      run: async (object, { namespace }) => {
        const review = object as LocalSubjectAccessReview
        refuse(review, [
          ...findings(review.spec), ...subjectFindings(review.spec), ...metadataFindings(review, ['namespace'], true),
          ...beyond(review, namespace)
        ])
        return { ...review, status: await answer(userOf(review.spec), review.spec, review) }
      }
    }
  }
}

const userOf = ({ user = '', uid = '', groups = [], extra = {} }: SubjectAccessReviewSpec): UserInfo =>
  ({ username: user, uid, groups, extra })

function infoOf ({ resourceAttributes, nonResourceAttributes }: AccessAttributes): RequestInfo {
  const {
    verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = ''
  }: ResourceAttributes = resourceAttributes ?? {}
  if (resourceAttributes !== undefined) {
    return resourceRequest({ verb, group, version, resource, subresource, namespace, name })
  }
  const { path = '', verb: action = '' }: NonResourceAttributes = nonResourceAttributes ?? {}
  return pathRequest(path, action)
}

function findings ({ resourceAttributes, nonResourceAttributes }: AccessAttributes): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [{
      type: 'FieldValueInvalid', field: 'spec.nonResourceAttributes', value: nonResourceAttributes,
      detail: 'cannot be specified in combination with resourceAttributes'
    }]
  }
  if (resourceAttributes !== undefined) return collect(report => { validateSelectors(resourceAttributes, report) })
  if (nonResourceAttributes !== undefined) return []
  return [{
    type: 'FieldValueInvalid', field: 'spec.resourceAttributes', value: null,
    detail: 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  }]
}

function subjectFindings ({ user = '', groups = [] }: SubjectAccessReviewSpec): FieldError[] {
  return user === '' && groups.length === 0
    ? [{
        type: 'FieldValueInvalid', field: 'spec.user', value: '',
        detail: 'at least one of user or group must be specified'
      }]
    : []
}

/** Reviews must have empty metadata. @param explained allows the explain annotation */
function metadataFindings ({ metadata }: ApiObject, allowed: readonly string[], explained = false): FieldError[] {
  const { [EXPLAIN]: _, ...annotations } = explained ? metadata.annotations ?? {} : {}
  const ignored = explained && Object.keys(annotations).length === 0 ? ['annotations'] : []
  const said = Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'managedFields' &&
    !allowed.includes(name) && !ignored.includes(name)))
  if (sameValue(said, {})) return []
  return [{
    type: 'FieldValueInvalid', field: 'metadata', value: metadata,
    detail: `must be empty${allowed.length === 0 ? '' : ` except for ${allowed.join(', ')}`}`
  }]
}

/** @throws StatusError 400 without a namespace */
function beyond (
  { spec: { resourceAttributes, nonResourceAttributes } }: LocalSubjectAccessReview, namespace: string
): FieldError[] {
  if (namespace === '') throw badRequest('namespace is required on this type')
  const problems: FieldError[] = []
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== namespace) {
    problems.push({
      type: 'FieldValueInvalid', field: 'spec.resourceAttributes.namespace', value: resourceAttributes.namespace ?? '',
      detail: 'must match metadata.namespace'
    })
  }
  if (nonResourceAttributes !== undefined) {
    problems.push({
      type: 'FieldValueInvalid', field: 'spec.nonResourceAttributes', value: nonResourceAttributes,
      detail: 'disallowed on this kind of request'
    })
  }
  return problems
}

/** @throws StatusError 422 */
function refuse ({ kind }: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'authorization.orch.io', kind }, '', errors)
}
