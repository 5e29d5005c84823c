/**
 * `orch-apiserver/schemas`, for hosts and client authors: the API types as TypeBox schemas (both JSON Schema and
 * TypeScript types), the language for declaring more, and the codecs. Importing it starts no server.
 *
 *     import { rbacV1 } from 'orch-apiserver/schemas'
 *     import type { Static } from 'orch-apiserver/schemas'
 *
 *     fastify.post('/bindings', { schema: { body: rbacV1.ClusterRoleBinding } }, async ({ body }) => …)
 *     type Binding = Static<typeof rbacV1.ClusterRoleBinding>
 *
 * A schema describes an object after defaulting; Fastify applies the defaults. Fastify parses bodies with JSON.parse,
 * which rounds integers beyond 2^53; `parseJson` here keeps them.
 *
 * @packageDocumentation
 */
export * as admissionV1 from './api/admission/v1.js'
export * as admissionregistrationV1 from './api/admissionregistration/v1.js'
export * as admissionregistrationV1beta1 from './api/admissionregistration/v1beta1.js'
export * as apiextensionsV1 from './api/apiextensions/v1.js'
export * as apiregistrationV1 from './api/apiregistration/v1.js'
export * as appsV1 from './api/apps/v1.js'
export * as auditV1 from './api/audit/v1.js'
export * as authenticationV1 from './api/authentication/v1.js'
export * as authorizationV1 from './api/authorization/v1.js'
export * as autoscalingV1 from './api/autoscaling/v1.js'
export * as autoscalingV2 from './api/autoscaling/v2.js'
export * as autoscalingV2beta1 from './api/autoscaling/v2beta1.js'
export * as autoscalingV2beta2 from './api/autoscaling/v2beta2.js'
export * as batchV1 from './api/batch/v1.js'
export * as batchV1beta1 from './api/batch/v1beta1.js'
export * as certificatesV1 from './api/certificates/v1.js'
export * as coordinationV1 from './api/coordination/v1.js'
export * as coreV1 from './api/core/v1.js'
export * as discoveryV1 from './api/discovery/v1.js'
export * as discoveryV1beta1 from './api/discovery/v1beta1.js'
export * as eventsV1 from './api/events/v1.js'
export * as eventsV1beta1 from './api/events/v1beta1.js'
export * as flowcontrolV1 from './api/flowcontrol/v1.js'
export * as flowcontrolV1beta1 from './api/flowcontrol/v1beta1.js'
export * as flowcontrolV1beta2 from './api/flowcontrol/v1beta2.js'
export * as internalV1alpha1 from './api/internal/v1alpha1.js'
export * as networkingV1 from './api/networking/v1.js'
export * as networkingV1beta1 from './api/networking/v1beta1.js'
export * as nodeV1 from './api/node/v1.js'
export * as nodeV1beta1 from './api/node/v1beta1.js'
export * as policyV1 from './api/policy/v1.js'
export * as policyV1beta1 from './api/policy/v1beta1.js'
export * as rbacV1 from './api/rbac/v1.js'
export * as resourceV1 from './api/resource/v1.js'
export * as resourceV1alpha3 from './api/resource/v1alpha3.js'
export * as resourceV1beta1 from './api/resource/v1beta1.js'
export * as resourceV1beta2 from './api/resource/v1beta2.js'
export * as schedulingV1 from './api/scheduling/v1.js'
export * as storageV1 from './api/storage/v1.js'
export * as storageV1beta1 from './api/storage/v1beta1.js'
export * as storagemigrationV1beta1 from './api/storagemigration/v1beta1.js'
export * as metaV1 from './meta/v1.js'

export * from './language/declare.js'
export { fromStructural } from './custom/declaration.js'
export type { StructuralSchema } from './custom/declaration.js'

export { DecodeError, isDecodeError } from './language/decode-error.js'
export { decode } from './language/decode.js'
export type { Decoded } from './language/decode.js'
export { applyDefaults } from './language/defaults.js'
export { validateMessage } from './language/validation.js'
export { parseJson } from './codec/json/parse.js'
export { stringify } from './codec/json/exact.js'
export { toJson } from './codec/json/encode.js'
export { decodeProtobuf } from './codec/protobuf/decode.js'
export { encodeProtobuf } from './codec/protobuf/encode.js'
export { parseYaml } from './codec/yaml/yaml.js'
export { toYaml } from './codec/yaml/yaml-write.js'
