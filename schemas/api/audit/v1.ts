/** Events and policies of the audit log (v1). */
import { map, one, bool, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Unknown } from '../../meta/runtime.js'
import { UserInfo } from '../authentication/tokenreviews.js'
import { MicroTime } from '../../meta/scalars.js'
import { Status } from '../../meta/v1.js'

export const API_VERSION = 'audit.orch.io/v1'

const { kind, message } = apiPackage('audit.orch.io', 'v1', 'io.orch.apiserver.pkg.apis.audit.v1')

export type ObjectReference = Static<typeof ObjectReference>
export const ObjectReference = message('ObjectReference', 'The object a request is about.', {
  resource: string(1, 'Resource in plural, such as pods.'),
  namespace: string(2, 'Namespace of the object.'),
  name: string(3, 'Name of the object.'),
  uid: string(4, 'UID of the object.'),
  apiGroup: string(5, 'API group of the object; empty for the core group.'),
  apiVersion: string(6, 'Version of the API group.'),
  resourceVersion: string(7, 'Resource version of the object.'),
  subresource: string(8, 'Subresource of the request, such as status.')
})

export type Event = Static<typeof Event>
export const Event = kind('Event', 'One entry of the audit log.', {
  level: string(1, 'How much is recorded: None, Metadata, Request or RequestResponse.', {
    required: true, values: ['None', 'Metadata', 'Request', 'RequestResponse']
  }),
  auditID: string(2, 'ID of the request, the same in all its events.', { required: true }),
  stage: string(3, 'Stage of the request: RequestReceived, ResponseStarted, ResponseComplete or Panic.', {
    required: true, values: ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']
  }),
  requestURI: string(4, 'URI of the request, as the client sent it.', { required: true }),
  verb: string(5, 'Verb of the request, or HTTP method in lower case.', { required: true }),
  user: one(6, 'User who made the request.', UserInfo, { required: true }),
  impersonatedUser: one(7, 'User on whose behalf the request was made.', UserInfo, { pointer: true }),
  sourceIPs: list(8, 'Addresses the request came from, including those of proxies.', 'string'),
  userAgent: string(16, 'User agent the client gave; not to be trusted.'),
  objectRef: one(9, 'Object the request is about.', ObjectReference, { pointer: true }),
  responseStatus: one(10, 'Status of the response, without its body.', Status, { pointer: true }),
  requestObject: one(11, 'Object in the request, from level Request on.', Unknown, { pointer: true }),
  responseObject: one(12, 'Object in the response, at level RequestResponse.', Unknown, { pointer: true }),
  requestReceivedTimestamp: one(13, 'When the request arrived at the server.', MicroTime, { written: true }),
  stageTimestamp: one(14, 'When the request reached the stage.', MicroTime, { written: true }),
  annotations: map(15, 'What plugins on the way noted about the request.', 'string')
})

export type GroupResources = Static<typeof GroupResources>
export const GroupResources = message('GroupResources', 'Resources of an API group.', {
  group: string(1, 'Name of the API group; empty for the core group.'),
  resources: list(2, 'Resources in plural, such as pods/log; empty means all.', 'string'),
  resourceNames: list(3, 'Names of the objects; empty means all.', 'string')
})

export type PolicyRule = Static<typeof PolicyRule>
export const PolicyRule = message('PolicyRule', 'Which requests are recorded, and how much of them.', {
  level: string(1, 'How much is recorded: None, Metadata, Request or RequestResponse.', {
    required: true, values: ['None', 'Metadata', 'Request', 'RequestResponse']
  }),
  users: list(2, 'Users the rule is for; empty means all.', 'string'),
  userGroups: list(3, 'Groups of users the rule is for; empty means all.', 'string'),
  verbs: list(4, 'Verbs the rule is for; empty means all.', 'string'),
  resources: list(5, 'Resources the rule is for; empty means all.', GroupResources),
  namespaces: list(6, 'Namespaces the rule is for; empty means all.', 'string'),
  nonResourceURLs: list(7, 'Paths the rule is for; a trailing * is a wildcard.', 'string'),
  omitStages: list(8, 'Stages for which no events are written, besides those of the policy.', 'string', {
    values: ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']
  }),
  omitManagedFields: bool(9, 'Whether managed fields are left out; overrides the policy.', { pointer: true })
})

export type Policy = Static<typeof Policy>
export const Policy = kind('Policy', 'What is written to the audit log.', {
  metadata,
  rules: list(2, 'Rules, of which the first that matches decides.', PolicyRule, { required: true }),
  omitStages: list(3, 'Stages for which no events are written.', 'string', {
    values: ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']
  }),
  omitManagedFields: bool(4, 'Whether managed fields are left out of recorded bodies.')
})
