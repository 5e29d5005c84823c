/**
 * Names that the public project spells differently, as pairs of its name and ours. Each name has one partner, so that
 * one function translates in both directions and translating twice changes nothing: what a client writes under public
 * names it reads back, even where it uses one of ours.
 */
import { API_VERSIONS } from '../resources.js'

const OURS = /orch\.io/
const inDomain = (domain: string, names: readonly string[]): Array<[string, string]> =>
  names.map(name => [name.replace(OURS, domain), name])

/**
 * Groups of reviews and discovery, of extension servers and migrations that the default roles know, and of snapshots,
 * from which claims are restored.
 */
const OTHER_GROUPS = [
  'meta.orch.io', 'admission.orch.io', 'imagepolicy.orch.io', 'apidiscovery.orch.io',
  'metrics.orch.io', 'custom.metrics.orch.io', 'external.metrics.orch.io',
  'snapshot.storage.orch.io'
]
const OWN_GROUPS: ReadonlySet<string> = new Set([...API_VERSIONS
  .map(version => version.replace(/\/?[^/]*$/, '')), ...OTHER_GROUPS].filter(group => group.endsWith('.orch.io')))

/** Of configuration files. */
export const CONFIGURATION_GROUPS: ReadonlyArray<readonly [stock: string, ours: string]> = [
  ...inDomain('k8s.io', [
    'apiserver.config.orch.io', 'apiserver.orch.io', 'audit.orch.io', 'eventratelimit.admission.orch.io',
    'pod-security.admission.config.orch.io', 'podtolerationrestriction.admission.orch.io',
    'resourcequota.admission.orch.io'
  ]),
  ...inDomain('kubernetes.io', ['abac.authorization.orch.io'])
]

/** Whether a group has another public name, and this is ours. */
export const isOwnGroup = (group: string): boolean => OWN_GROUPS.has(group)

/** Of labels, annotations, taints, finalizers and extra values of users. */
const KEYS = [
  ...inDomain('kubernetes.io', [
    ...[
      'arch', 'basic-auth', 'bootstrapping', 'cluster-service', 'config.hash', 'config.mirror', 'config.seen',
      'config.source', 'created-by', 'change-cause', 'description', 'dockercfg', 'dockerconfigjson',
      'enforce-mountable-secrets', 'hostname', 'ingress.class', 'legacy-token-invalid-since',
      'legacy-token-last-used', 'limit-ranger',
      'metadata.name', 'os', 'psp', 'pv-protection', 'pvc-protection', 'role', 'service-account-token',
      'service-account.name', 'service-account.uid', 'service-name', 'ssh-auth', 'tls'
    ]
      .map(name => `orch.io/${name}`),
    'apf.orch.io/autoupdate-spec', 'flowcontrol.orch.io/v1beta3-preserve-zero-concurrency-shares',
    'api-approved.orch.io', 'apiserver.orch.io/identity', 'apparmor.security.beta.orch.io/allowedProfileNames',
    'apparmor.security.beta.orch.io/defaultProfileName',
    'authentication.orch.io/associated-node-keys', 'authentication.orch.io/credential-id',
    'authentication.orch.io/issued-credential-id', 'authentication.orch.io/node-name',
    'authentication.orch.io/node-uid', 'authentication.orch.io/pod-name', 'authentication.orch.io/pod-uid',
    'autoscaling.alpha.orch.io/behavior', 'autoscaling.alpha.orch.io/conditions',
    'autoscaling.alpha.orch.io/current-metrics', 'autoscaling.alpha.orch.io/metrics',
    'autoscaling.alpha.orch.io/sent-metrics',
    'batch.orch.io/controller-uid', 'batch.orch.io/job-completion-index', 'batch.orch.io/job-name',
    'batch.orch.io/job-tracking', 'beta.orch.io/arch',
    'beta.orch.io/instance-type', 'beta.orch.io/os', 'bootstrap.orch.io/token',
    'controller.orch.io/pod-deletion-cost', 'deployment.orch.io/desired-replicas', 'deployment.orch.io/max-replicas',
    'deployment.orch.io/revision', 'deployment.orch.io/revision-history',
    'endpoints.orch.io/last-change-trigger-time', 'endpoints.orch.io/managed-by', 'endpoints.orch.io/over-capacity',
    'endpointslice.orch.io/managed-by',
    'endpointslice.orch.io/skip-mirror',
    'failure-domain.beta.orch.io/region', 'failure-domain.beta.orch.io/zone', 'ingressclass.orch.io/is-default-class',
    'ipaddress.orch.io/ip-family', 'ipaddress.orch.io/managed-by',
    'kube-aggregator.orch.io/automanaged',
    'node.alpha.orch.io/ttl', 'node.orch.io/disk-pressure', 'node.orch.io/exclude-from-external-load-balancers',
    'node.orch.io/instance-type', 'node.orch.io/memory-pressure', 'node.orch.io/network-unavailable',
    'node.orch.io/not-ready', 'node.orch.io/out-of-service', 'node.orch.io/pid-pressure', 'node.orch.io/unreachable',
    'node.orch.io/unschedulable', 'node.orch.io/windows-build',
    ...['alpha', 'beta'].flatMap(stage =>
      [`pod.${stage}.orch.io/init-containers`, `pod.${stage}.orch.io/init-container-statuses`]),
    'pdb.orch.io/deprecated-v1beta1-empty-selector-match', 'pv.orch.io/bind-completed',
    'pv.orch.io/bound-by-controller', 'pv.orch.io/migrated-to', 'pv.orch.io/provisioned-by',
    'rbac.authorization.orch.io/autoupdate', 'resource.orch.io/admin-access', 'resource.orch.io/delete-protection',
    'resource.orch.io/extended-resource-claim', 'resource.orch.io/pod-claim-name',
    'seccomp.security.alpha.orch.io/allowedProfileNames',
    'seccomp.security.alpha.orch.io/defaultProfileName', 'seccomp.security.alpha.orch.io/pod',
    'scheduler.alpha.orch.io/critical-pod', 'scheduler.alpha.orch.io/defaultTolerations',
    'scheduler.alpha.orch.io/node-selector', 'scheduler.alpha.orch.io/preferAvoidPods',
    'scheduler.alpha.orch.io/taints', 'scheduler.alpha.orch.io/tolerations',
    'scheduler.alpha.orch.io/tolerationsWhitelist',
    'security.alpha.orch.io/sysctls', 'security.alpha.orch.io/unsafe-sysctls',
    'service.beta.orch.io/load-balancer-source-ranges', 'service.orch.io/headless',
    'service.orch.io/load-balancer-cleanup', 'service.orch.io/service-proxy-name',
    'service.orch.io/topology-aware-hints', 'service.orch.io/topology-mode',
    'statefulset.orch.io/pod-name', 'storage.alpha.orch.io/migrated-plugins',
    'storageclass.beta.orch.io/is-default-class', 'storageclass.orch.io/is-default-class', 'topology.orch.io/region',
    'topology.orch.io/zone',
    'volume.beta.orch.io/mount-options', 'volume.beta.orch.io/storage-class', 'volume.beta.orch.io/storage-provisioner',
    'volume.orch.io/selected-node', 'volume.orch.io/storage-provisioner'
  ]),
  ...inDomain('k8s.io', [
    'alpha.image-policy.orch.io/failed-open', 'authentication.orch.io/legacy-token',
    'authentication.orch.io/legacy-token-autogenerated-secret', 'authentication.orch.io/legacy-token-invalidated',
    'authentication.orch.io/legacy-token-manual-secret',
    'authentication.orch.io/stale-token', 'customresourcecleanup.apiextensions.orch.io',
    'networking.orch.io/service-cidr-finalizer', 'orch.io/component', 'orch.io/initial-events-end',
    'rbac.authorization.orch.io/aggregate-to-admin', 'rbac.authorization.orch.io/aggregate-to-edit',
    'rbac.authorization.orch.io/aggregate-to-view', 'validation.policy.admission.orch.io/validation_failure'
  ])
]

type Pairs = ReadonlyArray<readonly [stock: string, ours: string]>

/** Signers of certificates. */
const SIGNERS: Pairs = [
  ['kubernetes.io/*', 'orch.io/*'],
  ['kubernetes.io/kube-apiserver-client', 'orch.io/orch-apiserver-client'],
  ['kubernetes.io/kube-apiserver-client-kubelet', 'orch.io/orch-apiserver-client-node-agent'],
  ['kubernetes.io/kube-apiserver-serving', 'orch.io/orch-apiserver-serving'],
  ['kubernetes.io/kubelet-serving', 'orch.io/node-agent-serving'],
  ['kubernetes.io/legacy-unknown', 'orch.io/legacy-unknown']
]

const components = (before: string, ...names: string[]): Pairs =>
  names.map(name => [`${before}kube-${name}`, `${before}orch-${name}`])

const NAMESPACES = components('', 'system', 'public', 'node-lease')

/**
 * Objects that the default roles name, although components make them: their locks and service accounts. The roles
 * allow either name, so that these objects have one name as others have.
 */
export const COMPONENT_OBJECTS: ReadonlyMap<string, string> =
  new Map(components('', 'controller-manager', 'dns', 'scheduler').map(([stock, ours]) => [ours, stock]))

/** Users of the system. Those of service accounts follow from their namespaces. */
const USERS = components('system:', 'aggregator', 'controller-manager', 'proxy', 'scheduler')

/** Roles of the system; their bindings have the same names. */
const ROLES: Pairs = [
  ...components('system:', 'aggregator', 'controller-manager', 'dns', 'scheduler'),
  ...components('system::leader-locking-', 'controller-manager', 'scheduler'),
  ['system:kubelet-api-admin', 'system:node-agent-api-admin'],
  ...components('system:controller:', 'apiserver-serving-clustertrustbundle-publisher'),
  ...inCertificates('certificatesigningrequests:nodeclient', 'certificatesigningrequests:nodeclient'),
  ...inCertificates('certificatesigningrequests:selfnodeclient', 'certificatesigningrequests:selfnodeclient'),
  ...SIGNERS.slice(1).flatMap(([stock, ours]) =>
    inCertificates(`${afterSlash(stock)}-approver`, `${afterSlash(ours)}-approver`))
]
function inCertificates (stock: string, ours: string): Pairs {
  return [[`system:certificates.k8s.io:${stock}`, `system:certificates.orch.io:${ours}`]]
}
function afterSlash (text: string): string { return text.slice(text.indexOf('/') + 1) }

const SERVICE: Pairs = [['kubernetes', 'orch']]
const RBAC = 'rbac.authorization.orch.io'

/**
 * Names are pairs, or made of a group: `v1.GROUP`, `roles.GROUP`, `GROUP.roles`; those of users also have namespaces in
 * them.
 */
export type KindNames = Pairs | 'of group' | 'before plural' | 'users'

/**
 * Kinds of which the server makes objects itself, with the names of those. Objects of other kinds, such as nodes, have
 * one name. Names go by kinds, not by namespaces: what a ClusterRole names is the same in each.
 */
export const KINDS: ReadonlyArray<readonly [group: string, plural: string, kind: string, names: KindNames]> = [
  ['', 'namespaces', 'Namespace', NAMESPACES],
  ['', 'services', 'Service', SERVICE],
  ['', 'endpoints', 'Endpoints', SERVICE],
  ['discovery.orch.io', 'endpointslices', 'EndpointSlice', SERVICE],
  ['networking.orch.io', 'servicecidrs', 'ServiceCIDR', SERVICE],
  ['', 'configmaps', 'ConfigMap', [
    ['kube-root-ca.crt', 'orch-root-ca.crt'], ...components('', 'apiserver-legacy-service-account-token-tracking')
  ]],
  [RBAC, 'clusterroles', 'ClusterRole', ROLES],
  [RBAC, 'clusterrolebindings', 'ClusterRoleBinding', ROLES],
  [RBAC, 'roles', 'Role', ROLES],
  [RBAC, 'rolebindings', 'RoleBinding', ROLES],
  ['flowcontrol.apiserver.orch.io', 'flowschemas', 'FlowSchema',
    components('', 'controller-manager', 'scheduler', 'system-service-accounts')],
  ['apiregistration.orch.io', 'apiservices', 'APIService', 'of group'],
  ['apiextensions.orch.io', 'customresourcedefinitions', 'CustomResourceDefinition', 'of group'],
  ['internal.apiserver.orch.io', 'storageversions', 'StorageVersion', 'before plural'],
  ['', 'users', '', 'users'],
  ['', 'groups', '', 'users'],
  ['certificates.orch.io', 'signers', '', SIGNERS]
]

export const bothWays = (pairs: Pairs): ReadonlyMap<string, string> =>
  new Map(pairs.flatMap(([one, other]) => [[one, other], [other, one]]))

const GROUP_PAIRS: Pairs = [...OWN_GROUPS].map(group => [group.replace(OURS, 'k8s.io'), group])
const KEY_PAIRS: Pairs = [...KEYS, ...SIGNERS]

/** Every pair, by what it names. */
export const PAIRS: Readonly<Record<string, Pairs>> = {
  groups: GROUP_PAIRS,
  keys: KEY_PAIRS,
  namespaces: NAMESPACES,
  users: USERS,
  ...Object.fromEntries(KINDS.flatMap(([, plural, kind, names]) =>
    typeof names === 'string' ? [] : [[kind || plural, names]]))
}

export const GROUPS = bothWays(GROUP_PAIRS)
/** Of labels, annotations, taints, finalizers, types of Secrets, signers and extra values of users. */
export const KEY_NAMES = bothWays(KEY_PAIRS)
export const NAMESPACE_NAMES = bothWays(NAMESPACES)
export const USER_NAMES = bothWays(USERS)
/** Users of the system, by public names. */
export const SYSTEM_USERS: ReadonlyMap<string, string> = new Map(USERS)
/** Of namespaces, in their spec. */
export const NAMESPACE_FINALIZERS = bothWays([['kubernetes', 'orch']])
/** Where service accounts find their tokens. */
export const MOUNT_PATHS = bothWays([
  ['/var/run/secrets/kubernetes.io/serviceaccount', '/var/run/secrets/orch.io/serviceaccount']
])
/** Values of the labels that say what a server is. */
export const COMPONENTS = bothWays(components('', 'apiserver'))
/** Values of the label that says who took an address. */
export const ALLOCATORS = bothWays([['ipallocator.k8s.io', 'ipallocator.orch.io']])

/** Annotations that hold a selector of labels, and those that hold tolerations or taints as JSON. */
export const SELECTOR_ANNOTATIONS = ['scheduler.alpha.orch.io/node-selector']
export const TAINT_ANNOTATIONS = ['defaultTolerations', 'taints', 'tolerations', 'tolerationsWhitelist']
  .map(name => `scheduler.alpha.orch.io/${name}`)

/** Domains of keys whose names are made up: `node-role.kubernetes.io/anything`. */
export const DOMAINS = bothWays(inDomain('kubernetes.io', [
  'node-role.orch.io', 'node-restriction.orch.io', 'pod-security.orch.io', 'container.apparmor.security.beta.orch.io',
  'container.seccomp.security.alpha.orch.io', 'deviceclass.resource.orch.io', 'requests.deviceclass.resource.orch.io'
]))

/** Ends of domains whose beginning is made up. */
export const DOMAIN_ENDS: Pairs = [
  ['.image-policy.k8s.io', '.image-policy.orch.io'], ['.image-policy.orch.io', '.image-policy.k8s.io'],
  ['.node-restriction.kubernetes.io', '.node-restriction.orch.io'],
  ['.node-restriction.orch.io', '.node-restriction.kubernetes.io']
]

/** Beginnings of the names of volumes that the server adds to pods. */
export const VOLUMES: Pairs = [['kube-api-access-', 'orch-api-access-'], ['orch-api-access-', 'kube-api-access-']]
