import t from 'tap'
import { daemonSets } from '../../../schemas/api/apps/daemonsets.js'
import { deployments } from '../../../schemas/api/apps/deployments.js'
import { statefulSets } from '../../../schemas/api/apps/statefulsets.js'
import { cronJobs } from '../../../schemas/api/batch/cronjobs.js'
import { jobs } from '../../../schemas/api/batch/jobs.js'
import { tagOf } from '../../../schemas/api/core/images.js'
import { persistentVolumes } from '../../../schemas/api/core/persistentvolumes.js'
import { pods, type Pod } from '../../../schemas/api/core/pods.js'
import { podTemplates } from '../../../schemas/api/core/podtemplates.js'
import { volumeAttachments } from '../../../schemas/api/storage/volumeattachments.js'
import type { ResourceType } from '../../../schemas/resource.js'
import { made } from './cells.js'

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'web', image: 'nginx:1.21' }] }
}
/** The spec as it is stored, in each version. */
const specs = ({ representations }: ResourceType, spec: object) => representations.map(
  representation => (made(representation, { spec }) as unknown as { spec: Record<string, unknown> }).spec
)

t.test('a job has defaults that a cron job does not write into what it makes its jobs of', async t => {
  const defaults = { parallelism: 1, completions: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false }
  t.match(specs(jobs, { template }), [defaults])
  t.match(specs(jobs, { template, completions: 3, backoffLimit: 0, suspend: null }), [
    { ...defaults, completions: 3, backoffLimit: 0 }
  ])
  t.match(
    specs(jobs, { template, parallelism: 2 }), [{ ...defaults, parallelism: 2, completions: undefined }],
    'pods that take work from a queue'
  )
  for (const { jobTemplate } of specs(cronJobs, { schedule: '@daily', jobTemplate: { spec: { template } } })) {
    const { spec } = jobTemplate as { spec: { template: object } }
    t.same(Object.keys(spec), ['template'])
    t.match(
      spec.template, { spec: { dnsPolicy: 'ClusterFirst', containers: [{ imagePullPolicy: 'IfNotPresent' }] } },
      'pods have theirs everywhere'
    )
  }
})

t.test('a persistent volume has defaults that one given in place has not', async t => {
  const csi = { driver: 'csi.example.com', volumeHandle: 'v' }
  const [volume] = specs(persistentVolumes, { csi, persistentVolumeReclaimPolicy: '', volumeMode: null })
  t.match(volume, { csi, persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' })
  const rbd = { monitors: ['m'], image: 'i' }
  const [attachment] = specs(volumeAttachments, {
    attacher: 'csi.example.com',
    nodeName: 'node-1',
    source: { inlineVolumeSpec: { csi, rbd, accessModes: ['ReadWriteOnce'] } }
  })
  t.same(attachment?.['source'], {
    inlineVolumeSpec: {
      csi, rbd: { ...rbd, pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }, accessModes: ['ReadWriteOnce']
    }
  })
})

t.test('settings of a rolling update are for those that roll', async t => {
  const cases: ReadonlyArray<readonly [ResourceType, string, sent: object | undefined, kept: object]> = [
    [
      deployments, 'strategy', undefined,
      { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } }
    ],
    [
      deployments, 'strategy', { rollingUpdate: { maxSurge: 0 } },
      { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 0 } }
    ],
    [deployments, 'strategy', { type: 'Recreate' }, { type: 'Recreate' }],
    [
      daemonSets, 'updateStrategy', { type: '', rollingUpdate: null },
      { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }
    ],
    [
      daemonSets, 'updateStrategy', { type: 'OnDelete', rollingUpdate: {} },
      { type: 'OnDelete', rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } }
    ],
    [statefulSets, 'updateStrategy', undefined, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }],
    [
      statefulSets, 'updateStrategy', { rollingUpdate: { partition: 2 } },
      { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }
    ],
    [
      statefulSets, 'updateStrategy', { type: 'RollingUpdate', rollingUpdate: {} },
      { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }
    ],
    [statefulSets, 'updateStrategy', { type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
    [statefulSets, 'updateStrategy', { type: 'OnDelete' }, { type: 'OnDelete' }]
  ]
  for (const [type, field, sent, kept] of cases) {
    const [spec = {}] = specs(type, {
      selector: { matchLabels: { app: 'web' } }, template, ...(sent === undefined ? {} : { [field]: sent })
    })
    t.same(spec[field], kept, `${type.plural}: ${JSON.stringify(sent)}`)
  }
})

t.test('images are pulled always where their tag is latest, or would be', async t => {
  const digest = `sha256:${'0'.repeat(64)}`
  const always = [
    'nginx', 'nginx:latest', `nginx:latest@${digest}`, 'team/web', 'registry.example/web',
    'Registry.Example:5000/team/web', 'localhost/web', 'reg_1.example/web', 'a__b/c.d/e---f', '0'.repeat(63)
  ]
  const unlessPresent = ['nginx:1.21', 'registry.example:5000/web:v1', `nginx@${digest}`, `nginx:1.21@${digest}`]
  const noNames = [
    '', 'Nginx', 'Team/web', 'a//b', 'web:', ':latest', 'web:latest:latest', '-web', 'a..b', 'web ',
    'reg_1.example:5000/web', 'web@latest', `web:latest@${digest}0`, `web@sha1:${'0'.repeat(40)}`, '0'.repeat(64),
    `${'a/'.repeat(128)}a`, 'localhost/'
  ]
  for (const image of always) t.equal(tagOf(image), 'latest', image)
  for (const image of unlessPresent) t.not(tagOf(image), 'latest', image)
  for (const image of noNames) t.equal(tagOf(image), '', image)
  const { template: { spec: { containers } } } = made(podTemplates.stored, {
    template: { spec: { containers: ['nginx', 'Nginx', 'nginx:1'].map(image => ({ name: 'web', image })) } }
  }) as unknown as { template: { spec: { containers: object[] } } }
  t.match(containers, [
    { imagePullPolicy: 'Always' }, { imagePullPolicy: 'IfNotPresent' }, { imagePullPolicy: 'IfNotPresent' }
  ])
})

t.test('amounts of a pod, and what it takes beside its containers, are in thousandths', async t => {
  const [spec] = specs(jobs, {
    template: {
      ...template,
      spec: {
        ...template.spec,
        overhead: { cpu: '100u', memory: '1Mi' },
        containers: [{ name: 'web', image: 'nginx', resources: { limits: { cpu: '1n' } } }]
      }
    }
  })
  t.match(spec, {
    template: {
      spec: { overhead: { cpu: '1m', memory: '1Mi' }, containers: [{ resources: { limits: { cpu: '1m' } } }] }
    }
  })
})

t.test('podIP and the first of podIPs are the same, whichever was set', async t => {
  const addresses = (status: object) => {
    const [pod] = pods.representations.map(one => (made(one, { spec: template.spec, status }) as unknown as Pod).status)
    return [pod?.podIP, ...pod?.podIPs?.map(({ ip }) => ip) ?? []]
  }
  t.same(addresses({}), [undefined])
  t.same(addresses({ podIP: '10.0.0.1' }), ['10.0.0.1', '10.0.0.1'])
  t.same(addresses({ podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }), ['10.0.0.1', '10.0.0.1', '::1'])
  t.same(addresses({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }), ['10.0.0.1', '10.0.0.1', '::1'])
  t.same(
    addresses({ podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }), ['10.0.0.2', '10.0.0.2'],
    'the one counts'
  )
})

t.test('annotations with init containers are dropped', async t => {
  const annotations = {
    'pod.beta.orch.io/init-containers': '[]', 'pod.alpha.orch.io/init-container-statuses': '[]', a: 'b'
  }
  for (const type of [pods, podTemplates]) {
    const metadata = { name: 'web', namespace: 'default', annotations }
    const [object] = type.representations.map(one => made(one, {
      metadata, spec: template.spec, template: { ...template, metadata: { annotations } }
    }) as unknown as { metadata: object, template?: object })
    t.match(
      type === pods ? object : object?.template,
      {
        metadata: {
          annotations: {
            a: 'b',
            'pod.beta.orch.io/init-containers': undefined,
            'pod.alpha.orch.io/init-container-statuses': undefined
          }
        }
      },
      type.stored.plural
    )
  }
})
