/**
 * Names that the public project spells differently, as pairs of its name and ours. Each name has one partner, so that one function translates in both
 * directions and translating twice changes nothing: what a client writes under public names it reads back, even where it uses one of ours.
 */
import { API_VERSIONS } from '../resources.js'

const OURS = /orch\.io/
const inDomain = (domain: string, names: readonly string[]): Array<[string, string]> => names.map(name => [name.replace(OURS, domain), name])

/** Groups of reviews, and those whose extension servers the default roles know. */
const OTHER_GROUPS = ['meta.orch.io', 'admission.orch.io', 'imagepolicy.orch.io', 'metrics.orch.io', 'custom.metrics.orch.io', 'external.metrics.orch.io']
const OWN_GROUPS: ReadonlySet<string> = new Set([...API_VERSIONS.map(version => version.replace(/\/?[^/]*$/, '')), ...OTHER_GROUPS].filter(group => group.endsWith('.orch.io')))

/** Whether a group has another public name, and this is ours. */
export const isOwnGroup = (group: string): boolean => OWN_GROUPS.has(group)

/** Of labels, annotations, taints, finalizers and extra values of users. */
const KEYS = [
  ...inDomain('kubernetes.io', [
    ...['arch', 'basic-auth', 'bootstrapping', 'cluster-service', 'config.hash', 'config.mirror', 'config.seen', 'config.source', 'created-by', 'change-cause', 'description', 'dockercfg',
      'dockerconfigjson', 'enforce-mountable-secrets', 'hostname', 'ingress.class', 'legacy-token-last-used', 'limit-ranger', 'metadata.name', 'os', 'psp', 'pv-protection', 'pvc-protection',
      'role', 'service-account-token', 'service-account.name', 'service-account.uid', 'service-name', 'ssh-auth', 'tls'].map(name => `orch.io/${name}`),
    'apf.orch.io/autoupdate-spec', 'api-approved.orch.io', 'apparmor.security.beta.orch.io/allowedProfileNames', 'apparmor.security.beta.orch.io/defaultProfileName',
    'authentication.orch.io/pod-name', 'authentication.orch.io/pod-uid',
    'autoscaling.alpha.orch.io/behavior', 'autoscaling.alpha.orch.io/conditions', 'autoscaling.alpha.orch.io/current-metrics', 'autoscaling.alpha.orch.io/metrics', 'autoscaling.alpha.orch.io/sent-metrics',
    'batch.orch.io/job-completion-index', 'batch.orch.io/job-tracking', 'beta.orch.io/arch', 'beta.orch.io/instance-type', 'beta.orch.io/os', 'bootstrap.orch.io/token',
    'controller.orch.io/pod-deletion-cost', 'deployment.orch.io/desired-replicas', 'deployment.orch.io/max-replicas', 'deployment.orch.io/revision', 'deployment.orch.io/revision-history',
    'endpoints.orch.io/last-change-trigger-time', 'endpoints.orch.io/over-capacity', 'endpointslice.orch.io/managed-by', 'endpointslice.orch.io/skip-mirror',
    'failure-domain.beta.orch.io/region', 'failure-domain.beta.orch.io/zone', 'ingressclass.orch.io/is-default-class', 'kube-aggregator.orch.io/automanaged',
    'node.alpha.orch.io/ttl', 'node.orch.io/disk-pressure', 'node.orch.io/exclude-from-external-load-balancers', 'node.orch.io/instance-type', 'node.orch.io/memory-pressure', 'node.orch.io/network-unavailable',
    'node.orch.io/not-ready', 'node.orch.io/out-of-service', 'node.orch.io/pid-pressure', 'node.orch.io/unreachable', 'node.orch.io/unschedulable', 'node.orch.io/windows-build',
    ...['alpha', 'beta'].flatMap(stage => [`pod.${stage}.orch.io/init-containers`, `pod.${stage}.orch.io/init-container-statuses`]),
    'pdb.orch.io/deprecated-v1beta1-empty-selector-match', 'pv.orch.io/bind-completed', 'pv.orch.io/bound-by-controller', 'pv.orch.io/migrated-to', 'pv.orch.io/provisioned-by',
    'rbac.authorization.orch.io/autoupdate', 'seccomp.security.alpha.orch.io/allowedProfileNames', 'seccomp.security.alpha.orch.io/defaultProfileName', 'seccomp.security.alpha.orch.io/pod',
    'scheduler.alpha.orch.io/critical-pod', 'scheduler.alpha.orch.io/defaultTolerations', 'scheduler.alpha.orch.io/node-selector', 'scheduler.alpha.orch.io/preferAvoidPods', 'scheduler.alpha.orch.io/taints', 'scheduler.alpha.orch.io/tolerations', 'scheduler.alpha.orch.io/tolerationsWhitelist',
    'security.alpha.orch.io/sysctls', 'security.alpha.orch.io/unsafe-sysctls',
    'service.beta.orch.io/load-balancer-source-ranges', 'service.orch.io/headless', 'service.orch.io/load-balancer-cleanup', 'service.orch.io/service-proxy-name', 'service.orch.io/topology-aware-hints',
    'statefulset.orch.io/pod-name', 'storage.alpha.orch.io/migrated-plugins', 'storageclass.beta.orch.io/is-default-class', 'storageclass.orch.io/is-default-class', 'topology.orch.io/region', 'topology.orch.io/zone',
    'volume.beta.orch.io/mount-options', 'volume.beta.orch.io/storage-class', 'volume.beta.orch.io/storage-provisioner', 'volume.orch.io/selected-node', 'volume.orch.io/storage-provisioner'
  ]),
  ...inDomain('k8s.io', [
    'alpha.image-policy.orch.io/failed-open', 'authentication.orch.io/legacy-token', 'authentication.orch.io/stale-token', 'customresourcecleanup.apiextensions.orch.io', 'orch.io/component', 'rbac.authorization.orch.io/aggregate-to-admin',
    'rbac.authorization.orch.io/aggregate-to-edit', 'rbac.authorization.orch.io/aggregate-to-view'
  ])
]

/** Namespaces, objects that the server makes itself, users, signers and the finalizer of namespaces. */
const OBJECTS: Array<[string, string]> = [
  ['kubernetes', 'orch'], ['kube-system', 'orch-system'], ['kube-public', 'orch-public'], ['kube-node-lease', 'orch-node-lease'], ['kube-root-ca.crt', 'orch-root-ca.crt'], ['kubernetes.io/*', 'orch.io/*'],
  ...['apiserver', 'controller-manager', 'dns', 'proxy', 'scheduler', 'system-service-accounts'].map((name): [string, string] => [`kube-${name}`, `orch-${name}`]),
  ...['aggregator', 'controller-manager', 'dns', 'proxy', 'scheduler'].map((name): [string, string] => [`system:kube-${name}`, `system:orch-${name}`]),
  ...['controller-manager', 'scheduler'].map((name): [string, string] => [`system::leader-locking-kube-${name}`, `system::leader-locking-orch-${name}`]),
  ['system:kubelet-api-admin', 'system:node-agent-api-admin'],
  ...inDomain('k8s.io', ['nodeclient', 'selfnodeclient'].map(name => `system:certificates.orch.io:certificatesigningrequests:${name}`)),
  ...[['kube-apiserver-client', 'orch-apiserver-client'], ['kube-apiserver-client-kubelet', 'orch-apiserver-client-node-agent'], ['kubelet-serving', 'node-agent-serving'], ['legacy-unknown', 'legacy-unknown']].flatMap(([stock, ours]): Array<[string, string]> => [
    [`kubernetes.io/${stock}`, `orch.io/${ours}`], [`system:certificates.k8s.io:${stock}-approver`, `system:certificates.orch.io:${ours}-approver`]
  ]),
  ['/var/run/secrets/kubernetes.io/serviceaccount', '/var/run/secrets/orch.io/serviceaccount']
]

const bothWays = (pairs: ReadonlyArray<readonly [string, string]>): ReadonlyMap<string, string> => new Map(pairs.flatMap(([one, other]) => [[one, other], [other, one]]))

export const PAIRS: ReadonlyArray<readonly [string, string]> = [...[...OWN_GROUPS].map((group): [string, string] => [group.replace(OURS, 'k8s.io'), group]), ...KEYS, ...OBJECTS]
export const WHOLE = bothWays(PAIRS)
/** Groups alone. */
export const GROUPS = bothWays([...OWN_GROUPS].map(group => [group.replace(OURS, 'k8s.io'), group]))

/** Domains of keys whose names are made up: `node-role.kubernetes.io/anything`. */
export const DOMAINS = bothWays(inDomain('kubernetes.io', ['node-role.orch.io', 'node-restriction.orch.io', 'pod-security.orch.io', 'container.apparmor.security.beta.orch.io', 'container.seccomp.security.alpha.orch.io']))

/** Ends of domains whose beginning is made up. */
export const DOMAIN_ENDS: ReadonlyArray<readonly [string, string]> = [
  ['.image-policy.k8s.io', '.image-policy.orch.io'], ['.image-policy.orch.io', '.image-policy.k8s.io'],
  ['.node-restriction.kubernetes.io', '.node-restriction.orch.io'], ['.node-restriction.orch.io', '.node-restriction.kubernetes.io']
]

/** Beginnings of names that the server makes up. */
export const BEGINNINGS: ReadonlyArray<readonly [string, string]> = [['kube-api-access-', 'orch-api-access-'], ['orch-api-access-', 'kube-api-access-']]

/** Labels and annotations whose values are names too, under either name. */
export const NAMING_KEYS: ReadonlySet<string> = new Set(['k8s.io/component', 'orch.io/component', ...['metadata.name', 'service-name', 'service-account.name'].flatMap(name => [`kubernetes.io/${name}`, `orch.io/${name}`])])

/** Users of the system, by public names. */
export const SYSTEM_USERS: ReadonlyMap<string, string> = new Map(OBJECTS.filter(([stock]) => stock.startsWith('system:kube')))
