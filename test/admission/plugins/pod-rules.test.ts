/** Plugins that are off by default and concern pods: what each one changes and refuses. */
import t from 'tap'
import type { Json } from '../../build.js'
import { MERGE, PODS, container, pod, serve } from '../served.js'

const disabled = ['ServiceAccount', 'DefaultTolerationSeconds']
const STRATEGIC = 'application/strategic-merge-patch+json'

t.test('AlwaysPullImages: images of new and updated pods are always pulled', async t => {
  const { made, as } = await serve(t, { enabled: ['AlwaysPullImages'], disabled })
  const { spec } = await made(PODS, pod('a', {
    initContainers: [container({ name: 'i', image: 'x:1' })],
    containers: [container({ image: 'x:1', imagePullPolicy: 'Never' })]
  }))
  t.same(
    [...spec.initContainers, ...spec.containers].map(({ imagePullPolicy }: Json) => imagePullPolicy),
    ['Always', 'Always']
  )
  const debugged = await as(
    'root', 'PATCH', `${PODS}/a`, { spec: { containers: [{ name: 'c', image: 'x:2' }] } }, STRATEGIC
  )
  t.match([debugged.code, debugged.json['spec'].containers[0].imagePullPolicy], [200, 'Always'])
  t.equal((await as('root', 'PATCH', `${PODS}/a`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
})

t.test('SecurityContextDeny: pods may not set users, groups or SELinux options', async t => {
  const { post } = await serve(t, { enabled: ['SecurityContextDeny'], disabled })
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [{ securityContext: { supplementalGroups: [1] } }, 'pod.Spec.SecurityContext.SupplementalGroups'],
    [{ securityContext: { seLinuxOptions: { level: 'x' } } }, 'pod.Spec.SecurityContext.SELinuxOptions'],
    [{ securityContext: { runAsUser: 1 } }, 'pod.Spec.SecurityContext.RunAsUser'],
    [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup'],
    [{ containers: [container({ securityContext: { runAsUser: 1 } })] }, 'SecurityContext.RunAsUser'],
    [
      { initContainers: [container({ name: 'i', securityContext: { seLinuxOptions: { level: 'x' } } })] },
      'SecurityContext.SELinuxOptions'
    ]
  ]
  for (const [spec, what] of refused) {
    t.match(
      await post(PODS, pod('x', spec)), { code: 403, json: { message: `pods "x" is forbidden: ${what} is forbidden` } },
      what
    )
  }
  t.equal((await post(PODS, pod('x', { securityContext: { runAsNonRoot: true } }))).code, 201)
})

t.test('LimitPodHardAntiAffinityTopology: required anti-affinity is limited to nodes', async t => {
  const { post } = await serve(t, { enabled: ['LimitPodHardAntiAffinityTopology'], disabled })
  const apart = (topologyKey: string): Json => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { a: 'b' } } }]
      }
    }
  })
  t.match(await post(PODS, pod('x', apart('topology.orch.io/zone'))), {
    code: 403,
    json: {
      message:
        'pods "x" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ' +
        'topology.orch.io/zone but only key orch.io/hostname is allowed'
    }
  })
  t.equal((await post(PODS, pod('x', apart('orch.io/hostname')))).code, 201)
})

t.test('ExtendedResourceToleration: a pod that requests an extended resource tolerates its taint', async t => {
  const { made } = await serve(t, { enabled: ['ExtendedResourceToleration'], disabled })
  const resources = {
    requests: { 'example.com/gpu': '1', 'example.com/fpga': '2', cpu: '1' },
    limits: { 'example.com/gpu': '1', 'example.com/fpga': '2' }
  }
  const tolerations = [{ key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }]
  t.same(
    (await made(PODS, pod('a', { tolerations, containers: [container({ resources })] })))['spec'].tolerations,
    [...tolerations, { key: 'example.com/fpga', operator: 'Exists', effect: 'NoSchedule' }]
  )
})

t.test('PodNodeSelector: pods get the node selector of their namespace', async t => {
  const value = {
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=all', default: 'pool=all,disk=ssd' }
  }
  const { post, made } = await serve(t, {
    enabled: ['PodNodeSelector'], disabled, configuration: { PodNodeSelector: { value } }
  })
  await made('/api/v1/namespaces', {
    metadata: { name: 'own', annotations: { 'scheduler.alpha.orch.io/node-selector': 'pool=own,zone=z' } }
  })
  await made('/api/v1/namespaces', {
    metadata: { name: 'broken', annotations: { 'scheduler.alpha.orch.io/node-selector': 'pool' } }
  })
  const inOwn = '/api/v1/namespaces/own/pods'
  t.same(
    (await made(PODS, pod('a', { nodeSelector: { disk: 'ssd' } })))['spec'].nodeSelector, { pool: 'all', disk: 'ssd' }
  )
  t.same((await made(inOwn, pod('a')))['spec'].nodeSelector, { pool: 'own', zone: 'z' })
  t.match(await post(inOwn, pod('x', { nodeSelector: { pool: 'all' } })), {
    code: 403,
    json: { message: 'pods "x" is forbidden: pod node label selector conflicts with its namespace node label selector' }
  })
  t.match(await post(PODS, pod('x', { nodeSelector: { disk: 'tape' } })), {
    code: 403,
    json: { message: 'pods "x" is forbidden: pod node label selector labels conflict with its namespace whitelist' }
  })
  t.equal(
    (await post(PODS, pod('x', { restartPolicy: 'Sometimes', nodeSelector: { disk: 'tape' } }))).code, 403,
    'before other errors of the pod'
  )
  t.match(await post('/api/v1/namespaces/broken/pods', pod('x')), {
    code: 403, json: { message: 'pods "x" is forbidden: invalid selector: pool' }
  })
  await t.rejects(
    serve(t, { configuration: { PodNodeSelector: { value: { podNodeSelectorPluginConfig: { default: 'a,b' } } } } }),
    { message: /podNodeSelectorPluginConfig\.default: invalid selector: a/ }
  )
})

t.test(
  'PodTolerationRestriction: pods get the tolerations of their namespace, and no others than it allows', async t => {
    const value = {
      apiVersion: 'podtolerationrestriction.admission.orch.io/v1alpha1',
      kind: 'Configuration',
      default: [{ key: 'all', operator: 'Exists' }],
      whitelist: [
        { key: 'all', operator: 'Exists' },
        { key: 'some', operator: 'Exists' },
        { key: 'node.orch.io/memory-pressure', operator: 'Exists' }
      ]
    }
    const { post, made } = await serve(t, {
      enabled: ['PodTolerationRestriction'], disabled, configuration: { PodTolerationRestriction: { value } }
    })
    const annotation = (defaults: unknown, allowed: unknown): Json => ({
      'scheduler.alpha.orch.io/defaultTolerations': JSON.stringify(defaults),
      'scheduler.alpha.orch.io/tolerationsWhitelist': JSON.stringify(allowed)
    })
    await made('/api/v1/namespaces', {
      metadata: {
        name: 'own',
        annotations: annotation([{ key: 'k', operator: 'Equal', value: 'v' }], [{ key: 'k', operator: 'Exists' }])
      }
    })
    await made('/api/v1/namespaces', { metadata: { name: 'broken', annotations: annotation('x', []) } })
    t.same((await made(PODS, pod('a')))['spec'].tolerations, [{ key: 'all', operator: 'Exists' }])
    const pressure = { key: 'node.orch.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }
    t.same(
      (await made(PODS, pod('b', {
        tolerations: [{ key: 'some', operator: 'Exists' }],
        containers: [container({ resources: { requests: { cpu: '1' } } })]
      })))['spec'].tolerations,
      [{ key: 'some', operator: 'Exists' }, { key: 'all', operator: 'Exists' }, pressure],
      'its own first'
    )
    const limits = await serve(t, {
      enabled: ['PodTolerationRestriction'],
      disabled: ['ServiceAccount'],
      configuration: { PodTolerationRestriction: { value: { ...value, whitelist: [] } } }
    })
    const keys = async (tolerations: Json[]): Promise<string[]> => (await limits.made(
      PODS,
      pod(`p${tolerations.length}`, { tolerations, containers: [container({ resources: { requests: { cpu: '1' } } })] })
    ))['spec'].tolerations.map(({ key }: Json) => key)
    t.same(await keys([{ key: 'own', operator: 'Exists' }]), [
      'own', 'node.orch.io/not-ready', 'node.orch.io/unreachable', 'all', 'node.orch.io/memory-pressure'
    ])
    t.match(await post(PODS, pod('x', { tolerations: [{ key: 'other', operator: 'Exists' }] })), {
      code: 403,
      json: {
        message:
          'pods "x" is forbidden: ' +
          'pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist'
      }
    })
    t.equal(
      (await post(
        PODS, pod('x', { restartPolicy: 'Sometimes', tolerations: [{ key: 'other', operator: 'Exists' }] })
      )).code,
      403,
      'before other errors of the pod'
    )
    const inOwn = '/api/v1/namespaces/own/pods'
    t.same((await made(inOwn, pod('a')))['spec'].tolerations, [{ key: 'k', operator: 'Equal', value: 'v' }])
    t.match(await post(inOwn, pod('x', { tolerations: [{ key: 'some', operator: 'Exists' }] })), {
      code: 403, json: { message: /conflict with its namespace whitelist/ }
    })
    await made('/api/v1/namespaces', {
      metadata: {
        name: 'bare',
        annotations: {
          'scheduler.alpha.orch.io/defaultTolerations': '', 'scheduler.alpha.orch.io/tolerationsWhitelist': ''
        }
      }
    })
    t.same(
      (await made(
        '/api/v1/namespaces/bare/pods', pod('a', { tolerations: [{ key: 'other', operator: 'Exists' }] })
      ))['spec'].tolerations,
      [{ key: 'other', operator: 'Exists' }],
      'an empty annotation says that nothing is added and all is allowed'
    )
    t.match(await post('/api/v1/namespaces/broken/pods', pod('x')), {
      code: 403,
      json: {
        message:
          /the annotation scheduler\.alpha\.orch\.io\/defaultTolerations of its namespace is no list of tolerations/
      }
    })
  }
)
