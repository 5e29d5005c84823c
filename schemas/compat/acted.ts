/**
 * Names that this server acts upon, and objects that have them under the other name: such a label or type does nothing,
 * although its author relies on it.
 */
import { isObject } from '../language/values.js'
import type { ApiObject } from '../meta/api-object.js'
import { isBuiltInGroup } from '../resources.js'
import { namesOf, translateGroup, translateKey, translateQuota, translateUser, type Translation } from './text.js'

/** A name in an object that is not the one that this server acts upon, which is `partner`. */
export interface Misnamed { readonly field: string, readonly name: string, readonly partner: string }

/** A name with its value, in a map. */
type Named = readonly [name: string, value: unknown]

interface Place {
  readonly field: string
  readonly of: Translation
  readonly names: (object: unknown) => Named[]
  /** The names that are acted upon; those that end with a slash are beginnings. Default all that have a partner. */
  readonly acted?: readonly string[] | undefined
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce((object, name) => isObject(object) ? object[name] : undefined, value)
const itemsAt = (value: unknown, path: string): unknown[] => {
  const list = at(value, path)
  return Array.isArray(list) ? list : []
}
const entriesAt = (value: unknown, path: string): Named[] => {
  const object = at(value, path)
  return isObject(object) ? Object.entries(object) : []
}
const named = (texts: readonly unknown[]): Named[] =>
  texts.flatMap(text => typeof text === 'string' ? [[text, undefined] as const] : [])

const map = (field: string, acted?: readonly string[], of = translateKey): Place =>
  ({ field, of, names: object => entriesAt(object, field), acted })
const text = (field: string): Place => ({ field, of: translateKey, names: object => named([at(object, field)]) })
const labels = (...acted: string[]): Place => map('metadata.labels', acted)
const annotations = (...acted: string[]): Place => map('metadata.annotations', acted)

const OF_PODS = [
  'container.apparmor.security.beta.orch.io/', 'container.seccomp.security.alpha.orch.io/',
  'seccomp.security.alpha.orch.io/pod', 'scheduler.alpha.orch.io/tolerations', 'orch.io/config.mirror'
]
const template = (path: string): Place => map(`${path}.metadata.annotations`, OF_PODS)
const TOLERATIONS: Place = {
  field: 'spec.tolerations',
  of: translateKey,
  names: object => named(itemsAt(object, 'spec.tolerations').map(toleration => at(toleration, 'key'))),
  acted: ['node.orch.io/not-ready', 'node.orch.io/unreachable']
}

const AUTOUPDATE = annotations('rbac.authorization.orch.io/autoupdate')
const CLASS = annotations('volume.beta.orch.io/storage-class')
const FLOW = annotations('apf.orch.io/autoupdate-spec')

const roleName = namesOf('rbac.authorization.orch.io', 'clusterroles') ?? translateUser
const groupsOf = (rules: readonly unknown[]): Named[] => named(rules.flatMap(rule => itemsAt(rule, 'apiGroups')))
const keysOf = (selector: unknown): Named[] => [
  ...entriesAt(selector, 'matchLabels').map(([key]) => [key, undefined] as const),
  ...named(itemsAt(selector, 'matchExpressions').map(requirement => at(requirement, 'key')))
]
const RULES: Place = {
  field: 'rules[*].apiGroups',
  of: translateGroup,
  names: object => groupsOf(itemsAt(object, 'rules'))
}
const SUBJECTS: Place = {
  field: 'subjects',
  of: translateUser,
  names: object => named(itemsAt(object, 'subjects').map(subject => at(subject, 'name')))
}
const ROLE: Place = { field: 'roleRef.name', of: roleName, names: object => named([at(object, 'roleRef.name')]) }
const AGGREGATION: Place = {
  field: 'aggregationRule.clusterRoleSelectors',
  of: translateKey,
  names: object => itemsAt(object, 'aggregationRule.clusterRoleSelectors').flatMap(keysOf)
}
const FLOW_RULES: readonly Place[] = [
  {
    field: 'spec.rules[*].resourceRules[*].apiGroups',
    of: translateGroup,
    names: object => itemsAt(object, 'spec.rules').flatMap(rule => groupsOf(itemsAt(rule, 'resourceRules')))
  },
  {
    field: 'spec.rules[*].subjects',
    of: translateUser,
    names: object => named(itemsAt(object, 'spec.rules').flatMap(rule => itemsAt(rule, 'subjects'))
      .flatMap(subject => [at(subject, 'user.name'), at(subject, 'group.name')]))
  }
]
/** A source of another group is dropped. */
const SOURCE: Place = {
  field: 'spec.dataSource.apiGroup',
  of: translateGroup,
  names: object => named([at(object, 'spec.dataSource.apiGroup')])
}
const hooks = (field: string, of: Translation, names: (hook: unknown) => Named[]): Place =>
  ({ field: `webhooks[*].${field}`, of, names: object => itemsAt(object, 'webhooks').flatMap(names) })
const HOOKS = [
  hooks('rules[*].apiGroups', translateGroup, hook => groupsOf(itemsAt(hook, 'rules'))),
  hooks('namespaceSelector', translateKey, hook => keysOf(at(hook, 'namespaceSelector'))),
  hooks('objectSelector', translateKey, hook => keysOf(at(hook, 'objectSelector')))
]

const PLUGIN_ANNOTATIONS = ['node-selector', 'defaultTolerations', 'tolerationsWhitelist']
const TEMPLATES = ['DaemonSet', 'Deployment', 'Job', 'ReplicaSet', 'ReplicationController', 'StatefulSet']
/** By kind. */
const PLACES: ReadonlyMap<string, readonly Place[]> = new Map<string, Place[]>(Object.entries({
  Namespace: [
    labels('pod-security.orch.io/'),
    annotations(...PLUGIN_ANNOTATIONS.map(name => `scheduler.alpha.orch.io/${name}`))
  ],
  Pod: [annotations(...OF_PODS), TOLERATIONS],
  ...Object.fromEntries(TEMPLATES.map(kind => [kind, [template('spec.template')]])),
  CronJob: [template('spec.jobTemplate.spec.template')],
  PodTemplate: [template('template')],
  PodSecurityPolicy: [annotations('apparmor.security.beta.orch.io/', 'seccomp.security.alpha.orch.io/')],
  Secret: [text('type'), annotations('orch.io/service-account.name')],
  Service: [annotations('service.beta.orch.io/load-balancer-source-ranges')],
  ServiceAccount: [annotations('orch.io/enforce-mountable-secrets')],
  PersistentVolume: [CLASS, annotations('pv.orch.io/provisioned-by')],
  PersistentVolumeClaim: [CLASS, SOURCE],
  ResourceQuota: [map('spec.hard', undefined, translateQuota)],
  StorageClass: [annotations('storageclass.orch.io/is-default-class', 'storageclass.beta.orch.io/is-default-class')],
  IngressClass: [annotations('ingressclass.orch.io/is-default-class')],
  Ingress: [annotations('orch.io/ingress.class')],
  CertificateSigningRequest: [text('spec.signerName')],
  Role: [AUTOUPDATE, RULES],
  RoleBinding: [AUTOUPDATE, SUBJECTS, ROLE],
  ClusterRoleBinding: [AUTOUPDATE, SUBJECTS, ROLE],
  ClusterRole: [labels('rbac.authorization.orch.io/'), AUTOUPDATE, RULES, AGGREGATION],
  FlowSchema: [FLOW, ...FLOW_RULES],
  HorizontalPodAutoscaler: [annotations('autoscaling.alpha.orch.io/')],
  PodDisruptionBudget: [annotations('pdb.orch.io/deprecated-v1beta1-empty-selector-match')],
  PriorityLevelConfiguration: [FLOW],
  APIService: [labels('kube-aggregator.orch.io/automanaged')],
  MutatingWebhookConfiguration: HOOKS,
  ValidatingWebhookConfiguration: HOOKS
}))

/** Names of the public project have these. */
const PUBLIC = /k8s\.io|kubernetes\.io|^system::?[a-z-]*kube/
const isActed = (name: string, acted: readonly string[] | undefined): boolean =>
  acted?.some(prefix => prefix.endsWith('/') ? name.startsWith(prefix) : name === prefix) ?? true

/** The places of a built-in kind; a custom type may have a kind of the same name. */
function placesOf ({ apiVersion = '', kind = '' }: ApiObject): readonly Place[] {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return isBuiltInGroup(group) ? PLACES.get(kind) ?? [] : []
}

/**
 * Finds names of the other project that a request adds or changes, and that therefore have no effect here.
 * @param old the stored object, under our names
 */
export function misnamed (object: ApiObject, old: ApiObject | undefined): Misnamed[] {
  return placesOf(object).flatMap(({ field, of, names, acted }) => {
    const acted2 = names(object).filter(([name]) => PUBLIC.test(name) && of(name) !== name && isActed(of(name), acted))
    if (acted2.length === 0) return []
    const known = new Map(names(old))
    const added = acted2.filter(([name, value]) => !known.has(name) || known.get(name) !== value)
    return [...new Set(added.map(([name]) => name))].map(name => ({ field, name, partner: of(name) }))
  })
}
