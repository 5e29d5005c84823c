/** AdmissionReview (v1): the request to an admission webhook, and its response. */
import { map, one, bool, bytes, list, apiPackage, string, type Static } from '../../language/declare.js'
import { UserInfo } from '../authentication/tokenreviews.js'
import { GroupVersionKind, GroupVersionResource, Status } from '../../meta/v1.js'
import { RawExtension } from '../../meta/runtime.js'

export const API_VERSION = 'admission.orch.io/v1'

const { kind, message } = apiPackage('admission.orch.io', 'v1', 'io.orch.api.admission.v1')

export type AdmissionRequest = Static<typeof AdmissionRequest>
export const AdmissionRequest = message('AdmissionRequest', 'A request for an admission webhook.', {
  uid: string(1, 'UID of this call, to be repeated in the response.', { required: true }),
  kind: one(2, 'Kind of the object, as converted for the webhook.', GroupVersionKind, { required: true }),
  resource: one(3, 'Resource of the request, as converted for the webhook.', GroupVersionResource, { required: true }),
  subResource: string(4, 'Subresource of the request, such as status.'),
  requestKind: one(13, 'Kind of the object, as the client sent it.', GroupVersionKind, { pointer: true }),
  requestResource: one(14, 'Resource of the request, as the client named it.', GroupVersionResource, { pointer: true }),
  requestSubResource: string(15, 'Subresource of the request, as the client named it.'),
  name: string(5, 'Name of the object; may be empty when it is generated.'),
  namespace: string(6, 'Namespace of the request, if it has one.'),
  operation: string(7, 'What is done: CREATE, UPDATE, DELETE or CONNECT.', {
    required: true, values: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
  }),
  userInfo: one(8, 'User who makes the request.', UserInfo, { required: true }),
  object: one(9, 'Object as it would become; null when deleting.', RawExtension),
  oldObject: one(10, 'Object as it is now, for UPDATE and DELETE.', RawExtension),
  dryRun: bool(11, 'Whether nothing of the request is going to be stored.', { pointer: true }),
  options: one(12, 'Options of the operation, such as DeleteOptions.', RawExtension)
})

export type AdmissionResponse = Static<typeof AdmissionResponse>
export const AdmissionResponse = message('AdmissionResponse', 'Decision of an admission webhook.', {
  uid: string(1, 'UID of the request that is answered.', { required: true }),
  allowed: bool(2, 'Whether the request is admitted.', { required: true }),
  status: one(3, 'Why the request is refused.', Status, { pointer: true }),
  patch: bytes(4, 'Changes to the object, as a JSON patch.'),
  patchType: string(5, 'Type of the patch; only JSONPatch is allowed.', { pointer: true, values: ['JSONPatch'] }),
  auditAnnotations: map(6, 'Annotations for the audit log, without the name of the webhook.', 'string'),
  warnings: list(7, 'Warnings for the client, at best below 120 characters each.', 'string')
})

export type AdmissionReview = Static<typeof AdmissionReview>
export const AdmissionReview = kind('AdmissionReview', 'A call of an admission webhook, request and response.', {
  request: one(1, 'The request to decide on.', AdmissionRequest, { pointer: true }),
  response: one(2, 'What the webhook answers.', AdmissionResponse, { pointer: true })
})
