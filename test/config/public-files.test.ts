/** `--compat-names`: configuration files and flags of the public project, in which every name is the public one. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { checkedFlags, configuration } from '../../config/options.js'
import type { ServerOptions } from '../../config/server-options.js'
import { build, type Json, type Test } from '../build.js'

const lines = (...documents: unknown[]): string => documents.map(document => JSON.stringify(document)).join('\n')

const AUDIT = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    {
      level: 'None',
      users: ['system:kube-proxy', 'kubernetes', 'system:serviceaccount:kube-system:a'],
      userGroups: ['system:serviceaccounts:kube-system']
    },
    {
      level: 'Metadata',
      resources: [
        { group: 'rbac.authorization.k8s.io', resources: ['clusterroles'], resourceNames: ['system:kube-dns'] },
        { group: '', resources: ['nodes'], resourceNames: ['kubernetes'] }
      ]
    },
    {
      level: 'Request',
      resources: [{ group: '', resources: ['services'], resourceNames: ['kubernetes'] }],
      namespaces: ['kube-system', 'kubernetes']
    },
    { level: 'Metadata', nonResourceURLs: ['/apis/rbac.authorization.k8s.io*', '/healthz'] }
  ]
}
const POD_SECURITY = {
  apiVersion: 'pod-security.admission.config.k8s.io/v1beta1',
  kind: 'PodSecurityConfiguration',
  defaults: { enforce: 'baseline' },
  exemptions: {
    usernames: ['system:kube-scheduler', 'orch'], namespaces: ['kube-system'], runtimeClasses: ['kubernetes']
  }
}
const QUOTA = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'ResourceQuotaConfiguration',
  limitedResources: [{
    apiGroup: 'rbac.authorization.k8s.io',
    resource: 'roles',
    matchContains: [
      '.storageclass.storage.k8s.io/requests.storage', 'count/roles.rbac.authorization.k8s.io',
      'requests.kubernetes.io/x'
    ]
  }]
}
const EVENTS = {
  apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
  kind: 'Configuration',
  limits: [{ type: 'Server', qps: 1, burst: 1 }]
}
const TOLERATIONS = {
  apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
  kind: 'Configuration',
  default: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
  whitelist: [{ key: 'node.kubernetes.io/unreachable', value: 'kube-system' }]
}
const ENCRYPTION = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [{ resources: ['secrets', 'roles.rbac.authorization.k8s.io'], providers: [{ identity: {} }] }]
}
const EGRESS = {
  apiVersion: 'apiserver.k8s.io/v1beta1',
  kind: 'EgressSelectorConfiguration',
  egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'Direct' } }]
}
const TRACING = {
  apiVersion: 'apiserver.config.k8s.io/v1alpha1', kind: 'TracingConfiguration', endpoint: 'localhost:4317',
  samplingRatePerMillion: 1
}
const policy = (domain: string, spec: Json): Json => ({
  apiVersion: `abac.authorization.${domain}/v1beta1`, kind: 'Policy', spec
})
const selectors = {
  podNodeSelectorPluginConfig: {
    clusterDefaultNodeSelector: 'kubernetes.io/os=linux', 'kube-system': 'node-role.kubernetes.io/x='
  }
}

const FILES = {
  audit: lines(AUDIT),
  admission: lines({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      { name: 'PodSecurity', configuration: POD_SECURITY },
      { name: 'PodNodeSelector', path: 'selectors' },
      { name: 'PodTolerationRestriction', path: 'tolerations' },
      { name: 'ResourceQuota', configuration: QUOTA },
      { name: 'EventRateLimit', configuration: EVENTS }
    ]
  }),
  selectors: lines(selectors),
  tolerations: lines(TOLERATIONS),
  encryption: lines(ENCRYPTION),
  egress: lines(EGRESS),
  tracing: lines(TRACING),
  policies: lines(
    policy('kubernetes.io', {
      user: 'system:kube-scheduler', namespace: 'kube-system', resource: '*', apiGroup: 'rbac.authorization.k8s.io'
    }),
    policy('kubernetes.io', {
      group: 'system:serviceaccounts:kube-system', nonResourcePath: '/apis/rbac.authorization.k8s.io/*'
    }),
    policy('orch.io', { user: 'system:kube-scheduler', namespace: 'kube-system', resource: '*', apiGroup: '*' })
  )
}
const FLAGS = {
  audit: 'audit-policy-file',
  admission: 'admission-control-config-file',
  encryption: 'encryption-provider-config',
  egress: 'egress-selector-config-file',
  tracing: 'tracing-config-file',
  policies: 'authorization-policy-file'
}

async function load (
  t: Test & { testdir: (files?: Record<string, string>) => string }, files: Record<string, string>, ...more: string[]
): Promise<ServerOptions> {
  const folder = t.testdir(files)
  const flags = Object.entries(FLAGS)
    .filter(([file]) => file in files)
    .map(([file, flag]) => `--${flag}=${folder}/${file}`)
  const always = [
    `--data-dir=${folder}/data`, `--audit-log-path=${folder}/audit.log`, '--feature-gates=APIServerTracing=true'
  ]
  const mode = 'policies' in files ? ['--authorization-mode=ABAC'] : []
  return (await configuration(checkedFlags([...always, ...mode, ...flags, ...more]))).options
}

t.test('every name in a public file is the public one', async t => {
  const { audit, admission, storage, authorization } = await load(t, FILES, '--compat-names')
  t.match(audit?.policy, {
    apiVersion: 'audit.orch.io/v1',
    rules: [
      {
        users: ['system:orch-proxy', 'kubernetes', 'system:serviceaccount:orch-system:a'],
        userGroups: ['system:serviceaccounts:orch-system']
      },
      {
        resources: [
          { group: 'rbac.authorization.orch.io', resourceNames: ['system:orch-dns'] }, { resourceNames: ['kubernetes'] }
        ]
      },
      { resources: [{ resourceNames: ['orch'] }], namespaces: ['orch-system', 'kubernetes'] },
      { nonResourceURLs: ['/apis/rbac.authorization.orch.io*', '/healthz'] }
    ]
  })
  const plugin = (name: string): Json => admission?.configuration?.[name]?.value as Json
  t.match(plugin('PodSecurity'), {
    apiVersion: 'pod-security.admission.config.orch.io/v1beta1',
    exemptions: {
      usernames: ['system:orch-scheduler', 'orch'], namespaces: ['orch-system'], runtimeClasses: ['kubernetes']
    }
  })
  t.strictSame(plugin('PodNodeSelector'), {
    podNodeSelectorPluginConfig: {
      clusterDefaultNodeSelector: 'orch.io/os=linux', 'orch-system': 'node-role.orch.io/x='
    }
  })
  t.match(plugin('PodTolerationRestriction'), {
    apiVersion: 'podtolerationrestriction.admission.orch.io/v1alpha1',
    default: [{ key: 'node.orch.io/not-ready' }],
    whitelist: [{ key: 'node.orch.io/unreachable', value: 'kube-system' }]
  })
  t.match(plugin('ResourceQuota'), {
    limitedResources: [
      {
        apiGroup: 'rbac.authorization.orch.io',
        matchContains: [
          '.storageclass.storage.orch.io/requests.storage', 'count/roles.rbac.authorization.orch.io',
          'requests.orch.io/x'
        ]
      }
    ]
  })
  t.match(storage, {
    encryption: {
      apiVersion: 'apiserver.config.orch.io/v1',
      resources: [{ resources: ['secrets', 'roles.rbac.authorization.orch.io'] }]
    }
  })
  const [first, second, third] = (authorization?.policies ?? '').split('\n').map(line => JSON.parse(line) as Json)
  t.match(first, {
    apiVersion: 'abac.authorization.orch.io/v1beta1',
    spec: { user: 'system:orch-scheduler', namespace: 'orch-system', apiGroup: 'rbac.authorization.orch.io' }
  })
  t.match(second, {
    spec: { group: 'system:serviceaccounts:orch-system', nonResourcePath: '/apis/rbac.authorization.orch.io/*' }
  })
  t.match(
    third, { spec: { user: 'system:kube-scheduler', namespace: 'kube-system' } }, 'a file in our group has our names'
  )
})

t.test('files in our groups have our names, whatever they refer to', async t => {
  const plugins = [
    { name: 'PodNodeSelector', configuration: { podNodeSelectorPluginConfig: { 'orch-system': 'orch.io/os=linux' } } }
  ]
  const { audit, admission } = await load(t, {
    audit: lines({
      apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata', namespaces: ['orch-system'] }]
    }),
    admission: lines({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins })
  }, '--compat-names')
  t.match(audit?.policy, { rules: [{ namespaces: ['orch-system'] }] })
  t.strictSame(admission?.configuration?.['PodNodeSelector']?.value, plugins[0]?.configuration)
})

t.test('public files are refused without the flag, and rules that are ambiguous with it', async t => {
  const { selectors, tolerations } = FILES
  for (const [file, flag] of Object.entries(FLAGS)) {
    await t.rejects(
      load(t, { selectors, tolerations, [file]: FILES[file as keyof typeof FLAGS] }), new RegExp(`--${flag}=`), flag
    )
  }
  const mixed = lines({
    ...AUDIT,
    rules: [
      { level: 'Metadata', resources: [{ group: '', resources: ['services', 'nodes'], resourceNames: ['kubernetes'] }] }
    ]
  })
  await t.rejects(
    load(t, { audit: mixed }, '--compat-names'),
    /--audit-policy-file=.*do not agree about what is called kubernetes; write an entry for each/
  )
})

t.test('a public audit policy audits what it names', async t => {
  const rules = [
    { level: 'Metadata', resources: [{ group: 'rbac.authorization.k8s.io' }], namespaces: ['kube-system'] }
  ]
  const { audit } = await load(
    t, { audit: lines({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules }) },
    '--compat-names'
  )
  const server = await build(t, { compatNames: true, ...(audit === undefined ? {} : { audit }) })
  for (const namespace of ['kube-system', 'default']) {
    await server.get(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`)
  }
  await server.get('/api/v1/namespaces/kube-system/pods')
  await server.app.close()
  const events = readFileSync(audit?.path ?? '', 'utf8').trim().split('\n').map(line => JSON.parse(line) as Json)
  t.match(events.map(({ objectRef }) => objectRef), [{ namespace: 'orch-system', resource: 'roles' }])
  t.equal(events.length, 1)
})

const SETTINGS = (domain: string, type: string): string[] => [
  `--runtime-config=storage.${domain}/v1beta1=true,storage.${domain}/v1/csinodes=false,apps/v1/daemonsets=false`,
  `--watch-cache-sizes=leases.coordination.${domain}#10,secrets#20,things.example.com#30`,
  `--etcd-servers-overrides=coordination.${domain}/leases#http://a:1,/secrets#http://b:1`, '--etcd-servers=http://c:1',
  `--storage-media-type=application/vnd.${type}.protobuf`
]

t.test('flags name groups and media types as the public project does, or as we do', async t => {
  const known = async (...args: string[]): Promise<unknown> => {
    const { api, storage, watchCache } = (await configuration(checkedFlags(['--compat-names', ...args]))).options
    return { api, storage: { ...storage, mediaType: undefined }, watchCache }
  }
  const own = await known(...SETTINGS('orch.io', 'orch'))
  t.match(own, {
    storage: { overrides: { 'coordination.orch.io/leases': ['http://a:1'], '/secrets': ['http://b:1'] } },
    watchCache: { sizes: { 'coordination.orch.io/leases': 10, '/secrets': 20, 'example.com/things': 30 } }
  })
  const { disabled } = (own as { readonly api: { readonly disabled: string[] } }).api
  t.ok(disabled.includes('storage.orch.io/v1/csinodes') && !disabled.includes('storage.orch.io/v1beta1'))
  t.strictSame(await known(...SETTINGS('k8s.io', 'kubernetes')), own)
  for (const flag of SETTINGS('k8s.io', 'kubernetes').filter(flag => !flag.startsWith('--etcd-servers='))) {
    if (flag.startsWith('--watch-cache-sizes')) continue // of a custom resource
    const refused = async (): Promise<unknown> => configuration(checkedFlags([flag, '--etcd-servers=http://c:1']))
    await t.rejects(refused, new RegExp(flag.split('=', 1)[0] ?? ''), flag)
  }
})

t.test('options of hosts name them so too', async t => {
  const options = (domain: string, type: 'kubernetes' | 'orch'): ServerOptions => ({
    api: { disabled: [`rbac.authorization.${domain}/v1/roles`] },
    watchCache: { sizes: { [`coordination.${domain}/leases`]: 10 } },
    storage: { kind: 'memory', mediaType: `application/vnd.${type}.protobuf` }
  })
  for (const each of [options('k8s.io', 'kubernetes'), options('orch.io', 'orch')]) {
    const server = await build(t, { compatNames: true, ...each })
    t.equal((await server.get('/apis/rbac.authorization.k8s.io/v1/roles')).code, 404)
    t.equal((await server.get('/apis/rbac.authorization.k8s.io/v1/rolebindings')).code, 200)
  }
  const { api = {}, storage = {} } = options('k8s.io', 'kubernetes')
  await t.rejects(build(t, { api }), /api\.disabled/)
  await t.rejects(build(t, { storage }), /storage\.mediaType: .*needs compatNames/)
})
