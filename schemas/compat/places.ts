/**
 * Where declared types hold names. Fields are listed by name, with the messages that have them where not all do;
 * everything else, such as the data of a ConfigMap, arguments and images of containers, and all of custom resources but
 * their metadata, is the client's own text.
 */
import { alternativeOf, type Plan, type PlannedField } from '../language/plan.js'
import type { Declaration, Plain } from '../language/types.js'
import { oncePer } from '../once-per.js'
import { membersOfSchemas } from './definitions.js'
import {
  translateFieldPath, translateFieldSelector, translateLabelSelector, translatePattern, valueOfField, valueOfKey
} from './requests.js'
import { publicWords } from './sentences.js'
import {
  bounded, namesOf, namesOfRule, translateCounted, translateGroup, translateKey, translateMountPath, translateNamespace,
  translateNamespaceFinalizer, translateQuota, translateResource, translateUser, translateVolume, type Translation
} from './text.js'

/**
 * `text`: a name, or text with names; `keys`: a map whose keys are names; `struct`: an object of a message; `items`: a
 * list or map of such; `union`: a value whose type tells which of several places it is.
 */
export type Place =
  | { readonly kind: 'text', readonly of: (text: string) => string, readonly list: boolean }
  | { readonly kind: 'keys', readonly of: Translation }
  | { readonly kind: 'struct', readonly members: Members }
  | { readonly kind: 'items', readonly item: Place, readonly map: boolean }
  | { readonly kind: 'union', readonly placeOf: (value: unknown) => Place | undefined }

export interface Members {
  readonly places: ReadonlyMap<string, Place>
  /** A field whose names depend on its siblings. */
  readonly beside: Beside | undefined
  readonly message: Declaration
  /** Names of members that have others in public JSON, both ways. */
  readonly names: ReadonlyMap<string, string> | undefined
  /** Has apiVersion. */
  readonly typed: boolean
}

const ALL = ['']
const REQUIREMENTS = ['LabelSelectorRequirement', 'NodeSelectorRequirement', 'TopologySelectorLabelRequirement']
const MAX_LONG = 32 * 1024
/** Of a body: may be long, and is compared with paths of requests alone. */
const pathInText = bounded(MAX_LONG, translatePattern)
/** Written by this server: what clients send there is dropped. */
const sentence = bounded(MAX_LONG, publicWords)
const named = (group: string, plural: string): Translation => namesOf(group, plural) ?? (name => name)
const RBAC = 'rbac.authorization.orch.io'

/**
 * Text fields, and lists of texts, that hold names or have them in it, with the messages that have them: `''` for all.
 */
const TEXTS: ReadonlyArray<readonly [of: Translation, fields: Readonly<Record<string, readonly string[]>>]> = [
  [translateGroup, {
    apiGroup: ALL, apiGroups: ALL, apiVersion: ALL,
    commonEncodingVersion: ALL, decodableVersions: ALL, encodingVersion: ALL,
    servedVersions: ['ServerStorageVersion'],
    group: [
      'APIServiceSpec', 'CustomResourceDefinitionSpec', 'GroupVersionKind', 'GroupVersionResource',
      'ParentReference', 'ResourceAttributes', 'StatusDetails'
    ]
  }],
  [translateNamespace, {
    endpointsNamespace: ALL, namespace: ALL, namespaces: ALL, secretNamespace: ALL, volumeNamespace: ALL
  }],
  [translateUser, {
    groups: ['UserInfo', 'SubjectAccessReviewSpec', 'CertificateSigningRequestSpec'],
    // Names of service accounts have no partners, and no other subject may have those of the system.
    name: ['GroupSubject', 'Subject', 'UserSubject'],
    user: ['SubjectAccessReviewSpec'],
    username: ALL
  }],
  [translateKey, {
    finalizers: ['ObjectMeta'],
    key: [...REQUIREMENTS, 'Taint', 'Toleration'],
    signerName: ALL,
    subresource: ['ResourceAttributes'], // of `userextras`
    topologyKey: ALL,
    topologyKeys: ALL,
    type: ['Secret']
  }],
  [translateNamespaceFinalizer, { finalizers: ['NamespaceSpec'] }],
  [named('', 'services'), { name: ['IngressServiceBackend', 'ServiceReference'], serviceName: ALL }],
  [named('', 'configmaps'), {
    name: ['EnvSource', 'KeySelector', 'NodeConfigSource', 'Projection', 'VolumeSource'].map(of => `ConfigMap${of}`)
  }],
  [named(RBAC, 'clusterroles'), { name: ['RoleRef'] }],
  [translateVolume, { name: ['Volume', 'VolumeDevice', 'VolumeMount'] }],
  [translateMountPath, { mountPath: ['VolumeMount'] }],
  [translateFieldPath, { fieldPath: ['ObjectFieldSelector'] }],
  [pathInText, { nonResourceURLs: ALL, path: ['NonResourceAttributes'] }],
  [translateResource, { resources: ['PolicyRule', 'ResourceRule'] }],
  [translateLabelSelector, { selector: ['ScaleStatus'], rawSelector: ['LabelSelectorAttributes'] }],
  [text => translateFieldSelector(text), { rawSelector: ['FieldSelectorAttributes'] }],
  [sentence, { evaluationError: ALL, reason: ['SubjectAccessReviewStatus'], error: ['TokenReviewStatus'] }]
]
const KEYS: Readonly<Record<string, readonly string[]>> = {
  annotations: ALL,
  deprecatedTopology: ALL,
  extra: ALL,
  labels: ALL,
  matchLabels: ALL,
  nodeSelector: ALL,
  selector: ['ReplicationControllerSpec', 'ServiceSpec'],
  topology: ALL
}

/** Text fields whose meaning is in the members beside them. */
type Beside = readonly [field: string, of: (value: Plain) => Translation | undefined]
const text = (value: Plain, name: string): string => typeof value[name] === 'string' ? value[name] : ''
const texts = (value: Plain, name: string): string[] =>
  Array.isArray(value[name]) ? value[name].filter(item => typeof item === 'string') : []
const byRule = (value: Plain): Translation => namesOfRule(texts(value, 'apiGroups'), texts(value, 'resources'))
const BY_KEY: Beside = ['values', value => valueOfKey(text(value, 'key'))]
const BESIDE: ReadonlyMap<string, Beside> = new Map(Object.entries<Beside>({
  OwnerReference: ['name', value => namesOf(groupOf(text(value, 'apiVersion')), text(value, 'kind'))],
  StatusDetails: ['name', value => namesOf(text(value, 'group'), text(value, 'kind'))],
  ParentReference: ['name', value => namesOf(text(value, 'group'), text(value, 'resource'))],
  ResourceAttributes: ['name', value => namesOfRule([text(value, 'group')], [text(value, 'resource')])],
  NamedRuleWithOperations: ['resourceNames', byRule],
  PolicyRule: ['resourceNames', byRule],
  ResourceRule: ['resourceNames', byRule],
  FieldSelectorRequirement: ['values', value => valueOfField(text(value, 'key'))],
  ...Object.fromEntries(REQUIREMENTS.map(name => [name, BY_KEY]))
}))

type Fields = Readonly<Record<string, readonly string[]>>
const holds = (table: Fields, field: string, messages: readonly string[]): boolean =>
  Object.hasOwn(table, field) && (table[field]?.some(message => message === '' || messages.includes(message)) ?? false)

const groupOf = (apiVersion: string): string => /^(.*)\//.exec(apiVersion)?.[1] ?? ''

const shortName = ({ name }: Declaration): string => name.slice(name.lastIndexOf('.') + 1)

function placeOf (field: PlannedField, messages: readonly string[]): Place | undefined {
  const { name, shape } = field
  if (field.scalar === 'string' && shape !== 'map') {
    const of = TEXTS.find(([, fields]) => holds(fields, name, messages))?.[0]
    return of === undefined ? undefined : { kind: 'text', of, list: shape === 'list' }
  }
  if (shape === 'map' && holds(KEYS, name, messages)) return { kind: 'keys', of: translateKey }
  if (shape === 'map' && field.message !== undefined && shortName(field.message) === 'Quantity') {
    return { kind: 'keys', of: name === 'hard' || name === 'used' ? translateQuota : translateCounted }
  }
  const { message: inner, special } = field.innermost
  if (inner === undefined || special !== undefined) return undefined
  let item: Place = placeOfMessage(field.innermost)
  for (let level: PlannedField | undefined = field; level !== undefined; level = level.element) {
    if (level.shape === 'list' || level.shape === 'map') item = { kind: 'items', item, map: level.shape === 'map' }
  }
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

/**
 * The metadata of an object of a kind of which the server makes some itself: names in templates and of other kinds
 * have no partners.
 */
function placeOfMetadata (plan: Plan): Place | undefined {
  const { type } = plan.message
  const metadata = plan.byName.get('metadata')
  const names = type === undefined ? undefined : namesOf(groupOf(type.apiVersion), type.kind)
  if (names === undefined || metadata?.message === undefined) return undefined
  if (shortName(metadata.message) !== 'ObjectMeta') return undefined
  const members = membersOf(metadata.plan)
  const name: Place = { kind: 'text', of: names, list: false }
  return { kind: 'struct', members: { ...members, places: new Map([...members.places, ['name', name]]) } }
}

/** The places of a message; those of structs are found when they are visited. */
export const membersOf: (plan: Plan) => Members = oncePer(plan => {
  const beside = BESIDE.get(shortName(plan.message))
  const messages = plan.messages.map(shortName) // inlined ones too, whose fields stand among the others
  const fields = plan.message.given === undefined ? plan.fields : plan.fields.filter(({ name }) => name === 'metadata')
  const places = new Map(fields.flatMap((field): Array<[string, Place]> => {
    const place = placeOf(field, messages)
    return place === undefined ? [] : [[field.name, place]]
  }))
  const metadata = placeOfMetadata(plan)
  if (metadata !== undefined) places.set('metadata', metadata)
  const typed = plan.message.type !== undefined
  return { places, beside, message: plan.message, names: membersOfSchemas(plan.message), typed }
})

/** The places of members that hold names: most do not, and most of an object need not be visited. */
export const namedPlaces = oncePer(({ places }: Members) =>
  new Map([...places].filter(([, place]) => holdsNames(place))))

/** The same for trees of `fieldsV1`, in which values have no place but those of sets and keys; by `f:NAME`. */
export const renamingPlaces = oncePer(({ places }: Members) =>
  new Map([...places].filter(([, place]) => isRenamed(place)).map(([name, place]) => [`f:${name}`, place])))

const haveNames = anyMembers(({ beside, typed, places }) =>
  typed || beside !== undefined || [...places.values()].some(holdsNames))
const areRenamed = anyMembers(({ names, places }) => names !== undefined || [...places.values()].some(isRenamed))

function holdsNames (place: Place): boolean {
  if (place.kind === 'items') return holdsNames(place.item)
  return place.kind !== 'struct' || haveNames(place.members)
}

function isRenamed (place: Place): boolean {
  switch (place.kind) {
    case 'text': return place.list
    case 'items': return isRenamed(place.item) || hasNamedKeys(place.item)
    case 'struct': return areRenamed(place.members)
    default: return true
  }
}

/** Whether the fields that make up the key of an item may be names. */
const hasNamedKeys = (item: Place): boolean => item.kind !== 'struct' || item.members.typed ||
  item.members.beside !== undefined || [...item.members.places.values()].some(({ kind }) => kind === 'text')

/** Whether it is true of members, or of those below, which `holds` asks for; true of a type that contains itself. */
function anyMembers (holds: (members: Members) => boolean): (members: Members) => boolean {
  const known = new WeakMap<Members, boolean>()
  return members => {
    const before = known.get(members)
    if (before !== undefined) return before
    known.set(members, true)
    const answer = holds(members)
    known.set(members, answer)
    return answer
  }
}
