/**
 * Where declared types hold names. Fields are listed by name, with the messages that have them where not all do; everything else, such as the data of a
 * ConfigMap, arguments and images of containers, and fields of custom resources, is the client's own text.
 */
import { alternativeOf, perPlan, planFor, type Plan, type PlannedField } from '../language/plan.js'
import type { Declaration } from '../language/types.js'
import { bounded, translate, translateFieldPath, translateLabelSelector, translatePath } from './text.js'

/**
 * `text`: a name, or text with names; `keys`: a map whose keys are names; `struct`: an object of a message; `items`: a list
 * or map of such; `union`: a value whose type tells which of several places it is.
 */
export type Place =
  | { readonly kind: 'text', readonly of: (text: string) => string, readonly list: boolean }
  | { readonly kind: 'keys' }
  | { readonly kind: 'struct', readonly members: Members }
  | { readonly kind: 'items', readonly item: Place, readonly map: boolean }
  | { readonly kind: 'union', readonly placeOf: (value: unknown) => Place | undefined }

export interface Members {
  readonly places: ReadonlyMap<string, Place>
  /** `key` and `values` of a requirement of labels. */
  readonly requirement: boolean
  /** Extensions of JSON Schema, whose names begin with the project's. */
  readonly extensions: boolean
  /** Has apiVersion. */
  readonly typed: boolean
}

const ALL = ['']
const REQUIREMENTS = ['LabelSelectorRequirement', 'NodeSelectorRequirement', 'TopologySelectorLabelRequirement']

/** Text fields, and lists of texts, that are names: `''` for all messages. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  apiGroup: ALL, apiGroups: ALL, apiVersion: ALL, claimName: ALL, commonEncodingVersion: ALL, decodableVersions: ALL, encodingVersion: ALL, endpointsNamespace: ALL, finalizers: ALL,
  group: ['APIServiceSpec', 'ResourceAttributes', 'CustomResourceDefinitionSpec', 'GroupVersionKind', 'GroupVersionResource', 'StatusDetails'],
  groups: ['UserInfo', 'SubjectAccessReviewSpec', 'CertificateSigningRequestSpec'],
  ingressClassName: ALL, mountPath: ['VolumeMount'],
  key: [...REQUIREMENTS, 'Taint', 'Toleration'],
  name: ['BoundObjectReference', 'ConfigMapNodeConfigSource', 'CrossVersionObjectReference', 'GroupSubject', 'IngressClassParametersReference', 'IngressServiceBackend', 'LocalObjectReference', 'ObjectMeta', 'ObjectReference',
    'OwnerReference', 'PriorityLevelConfigurationReference', 'ResourceAttributes', 'RoleRef', 'SecretReference', 'ServiceAccountSubject', 'ServiceReference', 'StatusDetails', 'Subject', 'TypedLocalObjectReference',
    'UserSubject', 'Volume', 'VolumeDevice', 'VolumeMount'],
  namespace: ALL, namespaces: ALL, nodeName: ALL, nominatedNodeName: ALL, persistentVolumeName: ALL, priorityClassName: ALL, resourceNames: ALL, runtimeClassName: ALL, secretName: ALL, secretNamespace: ALL,
  serviceAccount: ALL, serviceAccountName: ALL, serviceName: ALL, signerName: ALL, storageClassName: ALL, topologyKey: ALL, topologyKeys: ALL, type: ['Secret'], user: ['SubjectAccessReviewSpec'],
  username: ALL, volumeName: ['PersistentVolumeClaimSpec'], volumeNamespace: ALL
}
/** Of a body: may be long, and is compared with paths of requests alone. */
const pathInText = bounded(32 * 1024, translatePath)

/** Other text that has names in it. */
const TEXTS: Readonly<Record<string, readonly [(text: string) => string, readonly string[]]>> = {
  fieldPath: [translateFieldPath, ['ObjectFieldSelector']],
  nonResourceURLs: [pathInText, ALL],
  path: [pathInText, ['NonResourceAttributes']],
  selector: [translateLabelSelector, ['ScaleStatus']]
}
const KEYS: Readonly<Record<string, readonly string[]>> = {
  annotations: ALL, deprecatedTopology: ALL, extra: ALL, hard: ALL, labels: ALL, matchLabels: ALL, nodeSelector: ALL, selector: ['ReplicationControllerSpec', 'ServiceSpec'], topology: ALL, used: ALL
}

const listed = (table: Readonly<Record<string, readonly string[]>>, field: string, message: string): boolean => Object.hasOwn(table, field) && (table[field]?.some(one => one === '' || one === message) ?? false)

const shortName = ({ name }: Declaration): string => name.slice(name.lastIndexOf('.') + 1)

function placeOf (field: PlannedField, message: string): Place | undefined {
  const { name, shape } = field
  if (field.scalar === 'string' && shape !== 'map') {
    const of = listed(NAMES, name, message) ? translate : Object.hasOwn(TEXTS, name) && TEXTS[name]?.[1].some(one => one === '' || one === message) === true ? TEXTS[name][0] : undefined
    return of === undefined ? undefined : { kind: 'text', of, list: shape === 'list' }
  }
  if (shape === 'map' && listed(KEYS, name, message)) return { kind: 'keys' }
  const { message: inner, special } = field.innermost
  if (inner === undefined || special !== undefined) return undefined
  let item: Place = placeOfMessage(field.innermost)
  for (let each: PlannedField | undefined = field; each !== undefined; each = each.element) if (each.shape === 'list' || each.shape === 'map') item = { kind: 'items', item, map: each.shape === 'map' }
  return item
}

/** Members are found on demand: types may contain themselves. */
function placeOfMessage (field: PlannedField): Place {
  if (!field.alternatives) return { kind: 'struct', get members () { return membersOf(field.plan) } }
  return {
    kind: 'union',
    placeOf: value => {
      const chosen = alternativeOf(field.plan, value)
      return chosen === undefined ? undefined : membersOf(field.plan).places.get(chosen.name)
    }
  }
}

/** The places of a message; those of structs are found when they are visited. */
export const membersOf: (plan: Plan) => Members = perPlan(plan => {
  const message = shortName(plan.message)
  // Fields of inlined messages stand among others: each counts as one of the message that declares it.
  const places = plan.messages.flatMap(declaring => planFor(declaring).fields.flatMap((field): Array<[string, Place]> => {
    const place = placeOf(field, shortName(declaring))
    return place === undefined ? [] : [[field.name, place]]
  }))
  return { places: new Map(places), requirement: REQUIREMENTS.includes(message), extensions: message === 'JSONSchemaProps', typed: plan.message.type !== undefined }
})
