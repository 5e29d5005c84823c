/** SubjectAccessReview, SelfSubjectAccessReview and LocalSubjectAccessReview (v1): may a user do this? */
import { map, one, bool, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { FieldSelectorRequirement, LabelSelectorRequirement } from '../../meta/options.js'
import { stringList } from '../../meta/scalars.js'
import { resource } from '../../resource.js'

const { kind, message, special } = apiPackage('authorization.orch.io', 'v1', 'io.orch.api.authorization.v1')

export const ExtraValue = special<string[]>(
  'ExtraValue', 'What else is known of a user under one key.', { items: list(1, 'The values.', 'string') }, stringList
)

export type FieldSelectorAttributes = Static<typeof FieldSelectorAttributes>
export const FieldSelectorAttributes =
  message('FieldSelectorAttributes', 'Conditions on fields; one of both members is set.', {
    rawSelector: string(1, 'A field selector as in queries.'),
    requirements: list(2, 'The conditions, all of which must hold.', FieldSelectorRequirement, { listType: 'atomic' })
  })

export type LabelSelectorAttributes = Static<typeof LabelSelectorAttributes>
export const LabelSelectorAttributes =
  message('LabelSelectorAttributes', 'Conditions on labels; one of both members is set.', {
    rawSelector: string(1, 'A label selector as in queries.'),
    requirements: list(2, 'The conditions, all of which must hold.', LabelSelectorRequirement, { listType: 'atomic' })
  })

const SELECTORS = { pointer: true, gate: 'AuthorizeWithSelectors', since: '1.31' } as const

export type ResourceAttributes = Static<typeof ResourceAttributes>
export const ResourceAttributes = message('ResourceAttributes', 'A request about a resource.', {
  namespace: string(1, 'Namespace of the request; empty for all, or for cluster-scoped resources.'),
  verb: string(2, 'Verb of the request, such as get or list; * means all.'),
  group: string(3, 'API group of the resource; * means all.'),
  version: string(4, 'API version of the resource; * means all.'),
  resource: string(5, 'Resource in plural, such as pods; * means all.'),
  subresource: string(6, 'Subresource, such as status; empty for none.'),
  name: string(7, 'Name of the object; empty means all.'),
  fieldSelector: one(8, 'Fields of the objects the request is limited to.', FieldSelectorAttributes, SELECTORS),
  labelSelector: one(9, 'Labels of the objects the request is limited to.', LabelSelectorAttributes, SELECTORS)
})

export type NonResourceAttributes = Static<typeof NonResourceAttributes>
export const NonResourceAttributes = message('NonResourceAttributes', 'A request that is not about a resource.', {
  path: string(1, 'URL path of the request.'),
  verb: string(2, 'HTTP method of the request, in lower case.')
})

export type SubjectAccessReviewSpec = Static<typeof SubjectAccessReviewSpec>
export const SubjectAccessReviewSpec =
  message('SubjectAccessReviewSpec', 'Who wants to do what; one kind of attributes is set.', {
    resourceAttributes: one(1, 'Request about a resource.', ResourceAttributes, { pointer: true }),
    nonResourceAttributes: one(2, 'Request that is not about a resource.', NonResourceAttributes, { pointer: true }),
    user: string(3, 'Name of the user who makes the request.'),
    groups: list(4, 'Groups of the user.', 'string'),
    extra: map(5, 'Further attributes of the user, from the authenticator.', ExtraValue),
    uid: string(6, 'UID of the user.')
  })

export type SubjectAccessReviewStatus = Static<typeof SubjectAccessReviewStatus>
export const SubjectAccessReviewStatus = message('SubjectAccessReviewStatus', 'Whether a request is allowed.', {
  allowed: bool(1, 'Whether the request is allowed.', { required: true }),
  denied: bool(4, 'Whether the request is denied for good; otherwise others may allow it.'),
  reason: string(2, 'Why it is allowed or denied.'),
  evaluationError: string(3, 'What went wrong while deciding; an answer may still be given.')
})

export type LocalSubjectAccessReview = Static<typeof LocalSubjectAccessReview>
export const LocalSubjectAccessReview =
  kind('LocalSubjectAccessReview', 'Asks whether somebody may do something in one namespace.', {
    metadata,
    spec: one(2, 'Who wants to do what; its namespace must match.', SubjectAccessReviewSpec, { required: true }),
    status: one(3, 'Whether it is allowed; written by the system.', SubjectAccessReviewStatus)
  })

export type SelfSubjectAccessReviewSpec = Static<typeof SelfSubjectAccessReviewSpec>
export const SelfSubjectAccessReviewSpec =
  message('SelfSubjectAccessReviewSpec', 'What the caller wants to do; one member is set.', {
    resourceAttributes: one(1, 'Request about a resource.', ResourceAttributes, { pointer: true }),
    nonResourceAttributes: one(2, 'Request that is not about a resource.', NonResourceAttributes, { pointer: true })
  })

export type SelfSubjectAccessReview = Static<typeof SelfSubjectAccessReview>
export const SelfSubjectAccessReview = kind('SelfSubjectAccessReview', 'Asks whether the caller may do something.', {
  metadata,
  spec: one(2, 'What the caller wants to do.', SelfSubjectAccessReviewSpec, { required: true }),
  status: one(3, 'Whether it is allowed; written by the system.', SubjectAccessReviewStatus)
})

export type SubjectAccessReview = Static<typeof SubjectAccessReview>
export const SubjectAccessReview = kind('SubjectAccessReview', 'Asks whether somebody may do something.', {
  metadata,
  spec: one(2, 'Who wants to do what.', SubjectAccessReviewSpec, { required: true }),
  status: one(3, 'Whether it is allowed; written by the system.', SubjectAccessReviewStatus)
})

export const localSubjectAccessReviews = resource(LocalSubjectAccessReview, {
  plural: 'localsubjectaccessreviews',
  namespaced: true,
  verbs: ['create'],
  virtual: true
})

export const selfSubjectAccessReviews = resource(SelfSubjectAccessReview, {
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: true
})

export const subjectAccessReviews = resource(SubjectAccessReview, {
  plural: 'subjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
  virtual: true
})
