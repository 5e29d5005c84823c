/** Warning headers about the fields of written objects. */
import t from 'tap'
import { build, type Json, type Answer } from '../build.js'

const SECCOMP = 'deprecated since v1.19, non-functional in v1.25+; use the "seccompProfile" field instead'
const main = { name: 'main', image: 'nginx' }

/** The texts of the Warning headers. */
function warningTexts ({ headers: { warning } }: Answer): string[] {
  return (warning === undefined ? [] : [warning as string | string[]].flat()).map(value =>
    /^299 - "(.*)"$/.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? `malformed: ${value}`)
}

/** Cases for a template, with each path below that of the template. */
const TEMPLATES: ReadonlyArray<readonly [title: string, metadata: Json, spec: Json, ...warnings: string[]]> = [
  ['nothing', { annotations: { a: 'b' } }, { nodeSelector: { 'orch.io/os': 'linux' } }],
  ['deprecated node labels', {}, {
    nodeSelector: { 'beta.orch.io/arch': 'arm64', 'failure-domain.beta.orch.io/zone': 'z' }
  },
  'spec.nodeSelector[beta.orch.io/arch]: deprecated since v1.14; use "orch.io/arch" instead',
  'spec.nodeSelector[failure-domain.beta.orch.io/zone]: deprecated since v1.17; use "topology.orch.io/zone" instead'],
  ['deprecated node labels that are required', {}, {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'a', operator: 'Exists' }, { key: 'beta.orch.io/os', operator: 'Exists' }] }
          ]
        }
      }
    }
  },
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]' +
  '.matchExpressions[1].key: beta.orch.io/os is deprecated since v1.14; use "orch.io/os" instead'],
  ['deprecated node labels that are preferred', {}, {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'beta.orch.io/instance-type', operator: 'Exists' }] } }
        ]
      }
    }
  },
  'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: ' +
  'beta.orch.io/instance-type is deprecated since v1.17; use "node.orch.io/instance-type" instead'],
  ['a deprecated topology', {}, {
    topologySpreadConstraints: [
      { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', topologyKey: 'failure-domain.beta.orch.io/region' }
    ]
  },
  'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.orch.io/region is deprecated since v1.17; ' +
    'use "topology.orch.io/region" instead'],
  ['annotations that do nothing', {
    annotations: {
      'scheduler.alpha.orch.io/critical-pod': '',
      'security.alpha.orch.io/sysctls': 'a=b',
      'security.alpha.orch.io/unsafe-sysctls': 'a=b'
    }
  }, {},
  'metadata.annotations[scheduler.alpha.orch.io/critical-pod]: non-functional in v1.16+; use the ' +
    '"priorityClassName" field instead',
  'metadata.annotations[security.alpha.orch.io/sysctls]: non-functional in v1.11+; use the "sysctls" field instead',
  'metadata.annotations[security.alpha.orch.io/unsafe-sysctls]: non-functional in v1.11+; ' +
  'use the "sysctls" field instead'],
  ['volumes of old', {}, {
    volumes: [
      { name: 'a', gitRepo: { repository: 'r' } },
      { name: 'b', flocker: { datasetName: 'd' } },
      { name: 'c', storageos: { volumeName: 'v' } },
      { name: 'd', quobyte: { registry: 'r:1', volume: 'v' } },
      { name: 'e', photonPersistentDisk: { pdID: 'p' } },
      { name: 'f', scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: { name: 's' } } }
    ]
  },
  'spec.volumes[0].gitRepo: deprecated in v1.11',
  'spec.volumes[1].flocker: deprecated in v1.22, support removal is planned in v1.26',
  'spec.volumes[2].storageOS: deprecated in v1.22, support removal is planned in v1.26',
  'spec.volumes[3].quobyte: deprecated in v1.22, support removal is planned in v1.26',
  'spec.volumes[4].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  'spec.volumes[5].scaleIO: deprecated in v1.16, non-functional in v1.22+'],
  ['what is said twice', {}, {
    hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }, { ip: '2.2.2.2' }],
    imagePullSecrets: [{ name: 'a' }, { name: 'a' }, { name: 'b' }]
  },
  'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"', 'spec.imagePullSecrets[1].name: duplicate name "a"'],
  ['a secret without a name', {}, { imagePullSecrets: [{}] }, 'spec.imagePullSecrets[0].name: invalid empty name ""'],
  ['variables of one name', {}, {
    containers: [{ ...main, env: [{ name: 'A', value: '1' }, { name: 'B' }, { name: 'A', value: '2' }] }],
    initContainers: [{ ...main, name: 'first', env: [{ name: 'C' }, { name: 'C' }] }]
  },
  'spec.initContainers[0].env[1].name: duplicate name "C"', 'spec.containers[0].env[2].name: duplicate name "A"'],
  ['parts of bytes', {}, {
    overhead: { memory: '1500m', cpu: '100m' },
    containers: [
      {
        ...main,
        resources: { limits: { memory: '1.5', cpu: '1500m' }, requests: { memory: '1', 'ephemeral-storage': '4m' } }
      }
    ]
  },
  'spec.overhead[memory]: fractional byte value "1500m" is invalid, must be an integer',
  'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
  'spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value "4m" is invalid, must be an integer']
]

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const templateOf = (metadata: Json, spec: Json): Json => ({
  metadata: { labels, ...metadata }, spec: { containers: [main], ...spec }
})
type Make = (metadata: Json, spec: Json) => Json

/** Paths of templates, and the objects that contain them. */
const OWNERS: ReadonlyArray<readonly [url: string, at: string, make: Make]> = [
  [
    '/apis/apps/v1/namespaces/default/deployments', 'spec.template.',
    (metadata, spec) => ({ spec: { selector, template: templateOf(metadata, spec) } })
  ],
  [
    '/apis/apps/v1/namespaces/default/replicasets', 'spec.template.',
    (metadata, spec) => ({ spec: { selector, template: templateOf(metadata, spec) } })
  ],
  [
    '/apis/apps/v1/namespaces/default/statefulsets', 'spec.template.',
    (metadata, spec) => ({ spec: { selector, serviceName: 's', template: templateOf(metadata, spec) } })
  ],
  [
    '/apis/apps/v1/namespaces/default/daemonsets', 'spec.template.',
    (metadata, spec) => ({ spec: { selector, template: templateOf(metadata, spec) } })
  ],
  [
    '/api/v1/namespaces/default/replicationcontrollers', 'spec.template.',
    (metadata, spec) => ({ spec: { selector: labels, template: templateOf(metadata, spec) } })
  ],
  [
    '/api/v1/namespaces/default/podtemplates', 'template.',
    (metadata, spec) => ({ template: templateOf(metadata, spec) })
  ],
  [
    '/apis/batch/v1/namespaces/default/jobs', 'spec.template.',
    (metadata, spec) => ({ spec: { template: templateOf(metadata, { restartPolicy: 'Never', ...spec }) } })
  ],
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    'spec.jobTemplate.spec.template.',
    (metadata, spec) => ({
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: templateOf(metadata, { restartPolicy: 'Never', ...spec }) } }
      }
    })
  ]
]

t.test('of pods, by a table', async t => {
  const server = await build(t)
  for (const [title, metadata, spec, ...texts] of TEMPLATES) {
    if (Object.hasOwn(spec, 'overhead')) continue // the RuntimeClass plugin sets it
    const answer = await server.post('/api/v1/namespaces/default/pods?dryRun=All', {
      metadata: { name: 'p', ...metadata }, spec: templateOf({}, spec).spec
    })
    t.equal(answer.code, 201, title)
    t.same(warningTexts(answer).sort(), [...texts].sort(), title)
  }
  const body = { metadata: { name: 'p' }, spec: { nodeSelector: { 'beta.orch.io/os': 'linux' }, containers: [main] } }
  t.equal(warningTexts(await server.post('/api/v1/namespaces/default/pods', body)).length, 1)
  t.same(
    warningTexts(await server.patch('/api/v1/namespaces/default/pods/p', { metadata: { labels: { a: 'b' } } })), [],
    'changes of pods are not looked at'
  )
  t.same(
    warningTexts(await server.post('/api/v1/namespaces/default/pods', {
      ...body, spec: { ...body.spec, restartPolicy: 'Sometimes' }
    })),
    [],
    'a refusal is reported as a cause only'
  )
})

for (const [url, at, make] of OWNERS) {
  t.test(`of templates, by the same table: ${url}`, async t => {
    const server = await build(t)
    for (const [title, metadata, spec, ...texts] of TEMPLATES) {
      const answer = await server.post(`${url}?dryRun=All`, { metadata: { name: 'x' }, ...make(metadata, spec) })
      t.equal(answer.code, 201, title)
      t.same(warningTexts(answer).sort(), texts.map(text => `${at}${text}`).sort(), title)
    }
    const annotations = {
      'seccomp.security.alpha.orch.io/pod': 'runtime/default',
      'container.seccomp.security.alpha.orch.io/main': 'unconfined'
    }
    const answer = await server.post(url, { metadata: { name: 'x' }, ...make({ annotations }, {}) })
    const texts = ['seccomp.security.alpha.orch.io/pod', 'container.seccomp.security.alpha.orch.io/main'].map(key =>
      `${at}metadata.annotations[${key}]: ${SECCOMP}`)
    t.same(warningTexts(answer), texts)
    t.same(
      warningTexts(await server.patch(`${url}/x`, { metadata: { labels: { a: 'b' } } })), [],
      'a change of nothing that is desired is not looked at'
    )
    if (url.endsWith('jobs') || url.endsWith('podtemplates')) return
    const field = url.endsWith('daemonsets') || url.endsWith('deployments') || url.endsWith('replicasets')
      ? { minReadySeconds: 1 }
      : url.endsWith('cronjobs') ? { suspend: true } : { replicas: 3 }
    const ofSpec = url.endsWith('daemonsets') ? [] : texts
    t.same(
      warningTexts(await server.patch(`${url}/x`, { spec: field })), ofSpec,
      'a change of the spec gets the warnings, but for daemon sets'
    )
    t.same(
      warningTexts(await server.patch(`${url}/x/status`, {
        metadata: { annotations: { a: 'b' } }, spec: { ...field }
      })),
      [],
      'one of the status is not'
    )
  })
}

t.test('of templates of daemon sets, when they change', async t => {
  const server = await build(t)
  const url = '/apis/apps/v1/namespaces/default/daemonsets'
  const text = 'spec.template.spec.nodeSelector[beta.orch.io/os]: deprecated since v1.14; use "orch.io/os" instead'
  t.same(
    warningTexts(await server.post(
      url,
      {
        metadata: { name: 'x' },
        spec: { selector, template: templateOf({}, { nodeSelector: { 'beta.orch.io/os': 'linux' } }) }
      }
    )),
    [text]
  )
  t.same(
    warningTexts(await server.patch(`${url}/x`, { spec: { template: { metadata: { annotations: { a: 'b' } } } } })),
    [text]
  )
})

t.test('of schedules with a time zone', async t => {
  const server = await build(t)
  const url = '/apis/batch/v1/namespaces/default/cronjobs'
  const text =
    'CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see ' +
    'https://orch.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
  const jobTemplate = { spec: { template: templateOf({}, { restartPolicy: 'Never' }) } }
  t.same(
    warningTexts(await server.post(url, {
      metadata: { name: 'x' }, spec: { schedule: 'TZ=UTC * * * * *', jobTemplate }
    })),
    [text]
  )
  t.same(
    warningTexts(await server.patch(`${url}/x`, { metadata: { labels: { a: 'b' } } })), [text], 'whatever is changed'
  )
  t.same(warningTexts(await server.patch(`${url}/x`, { spec: { schedule: '* * * * *' } })), [])
})

t.test('of ingresses that name their class by the annotation', async t => {
  const server = await build(t)
  const url = '/apis/networking.orch.io/v1/namespaces/default/ingresses'
  const defaultBackend = { service: { name: 'web', port: { number: 80 } } }
  const annotations = { 'orch.io/ingress.class': 'nginx' }
  t.same(
    warningTexts(await server.post(url, { metadata: { name: 'x', annotations }, spec: { defaultBackend } })),
    ['annotation "orch.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead']
  )
  t.same(warningTexts(await server.patch(`${url}/x`, { metadata: { labels: { a: 'b' } } })), [], 'of new ones alone')
  t.same(
    warningTexts(await server.post(url, {
      metadata: { name: 'y' }, spec: { defaultBackend, ingressClassName: 'nginx' }
    })),
    []
  )
})

t.test('of jobs that are deleted without a word on their pods', async t => {
  const server = await build(t)
  const url = '/apis/batch/v1/namespaces/default/jobs'
  const job = (name: string) =>
    server.post(url, { metadata: { name }, spec: { template: templateOf({}, { restartPolicy: 'Never' }) } })
  const text =
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or ' +
    'set propagationPolicy=Orphan to suppress this warning'
  await job('a')
  t.same(warningTexts(await server.delete(`${url}/a`)), [text])
  for (const body of [
    { propagationPolicy: 'Background' }, { propagationPolicy: 'Orphan' }, { orphanDependents: true },
    { orphanDependents: false }
  ]) {
    await job('b')
    t.same(warningTexts(await server.delete(`${url}/b`, body)), [], JSON.stringify(body))
    await server.patch(`${url}/b`, { metadata: { finalizers: null } })
  }
  t.same(warningTexts(await server.delete(url)), [text], 'all of them')
})

t.test('of owners that are named twice', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/configmaps'
  const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid })
  const text = (uids: string, when = '') =>
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and ` +
    `may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`
  const ownerReferences = [owner('a'), owner('b'), owner('a'), owner('b'), owner('a')]
  const made = await server.post(url, { metadata: { name: 'x', ownerReferences } })
  t.same(warningTexts(made), [text('a, b, a')])
  t.same(made.json.metadata.ownerReferences, [owner('a'), owner('b')])
  t.same(warningTexts(await server.put(`${url}/x`, { metadata: { name: 'x', ownerReferences } })), [text('a, b, a')])
  const added = await server.patch(
    `${url}/x`, [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner('a') }], 'application/json-patch+json'
  )
  t.same(warningTexts(added), [text('a', ' after mutating admission happens')])
  t.same(added.json.metadata.ownerReferences, [owner('a'), owner('b')])
})
