import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import t from 'tap'
import { pods, type Pod } from '../../../../schemas/api/core/pods.js'
import { made, updates } from '../cases.js'

const pod = {
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'u',
    annotations: { 'container.apparmor.security.beta.orch.io/main': 'unconfined' }
  },
  spec: {
    restartPolicy: 'OnFailure',
    activeDeadlineSeconds: 100,
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    initContainers: [{ name: 'setup', image: 'busybox', imagePullPolicy: 'Always' }],
    containers: [{ name: 'main', image: 'nginx', imagePullPolicy: 'Always' }]
  }
}

t.test('images, the deadline and tolerations of a pod are mutable', async t => {
  updates(t, pods, pod, [
    [{}],
    [{ 'spec.containers[0].image': 'nginx:2', 'spec.initContainers[0].image': 'busybox:2' }],
    [{ 'spec.containers[0].image': '' }, 'Required spec.containers[0].image'],
    [{ 'spec.containers[0].image': 'a ' }, 'Invalid spec.containers[0].image'],
    [{ 'spec.containers[0].command': ['a'] }, 'Forbidden spec'],
    [{ 'spec.containers[1]': { name: 'b', image: 'b' } }, 'Forbidden spec.containers'],
    [
      { 'spec.containers': [] }, 'Required spec.containers',
      'Invalid metadata.annotations[container.apparmor.security.beta.orch.io/main]', 'Forbidden spec.containers'
    ],
    [{ 'spec.initContainers': undefined }, 'Forbidden spec.initContainers'],
    [{ 'spec.activeDeadlineSeconds': 99 }],
    [{ 'spec.activeDeadlineSeconds': 101 }, 'Invalid spec.activeDeadlineSeconds'],
    [{ 'spec.activeDeadlineSeconds': undefined }, 'Invalid spec.activeDeadlineSeconds'],
    [{ 'spec.tolerations[1]': { key: 'b', operator: 'Exists' } }],
    [{ 'spec.tolerations[0].tolerationSeconds': 9 }],
    [{ 'spec.tolerations': [] }, 'Forbidden spec.tolerations'],
    [{ 'spec.tolerations[0].key': 'b' }, 'Forbidden spec.tolerations'],
    [{ 'spec.terminationGracePeriodSeconds': 1 }, 'Forbidden spec'],
    [{ 'spec.nodeName': 'n' }, 'Forbidden spec'],
    [{ 'spec.ephemeralContainers': [{ name: 'debug', image: 'b' }] }, 'Forbidden spec'],
    [{ 'metadata.labels': { a: 'b' } }],
    [{ 'metadata.uid': 'x' }, 'Invalid metadata.uid'],
    [{ 'metadata.annotations': {} }, 'Forbidden metadata.annotations[container.apparmor.security.beta.orch.io/main]'],
    [
      { 'metadata.annotations{orch.io/config.mirror}': 'x', 'spec.nodeName': 'n' },
      'Forbidden metadata.annotations[orch.io/config.mirror]', 'Forbidden spec'
    ]
  ])
})

t.test('a grace period that was negative may become 1', async t => {
  const negative = { ...pod, spec: { ...pod.spec, terminationGracePeriodSeconds: -1 } }
  updates(t, pods, negative, [
    [{ 'spec.terminationGracePeriodSeconds': 1 }],
    [{ 'spec.terminationGracePeriodSeconds': 2 }, 'Forbidden spec']
  ])
})

t.test('terminated containers do not run again, and pod addresses are of two families', async t => {
  const ended = (exitCode: number) => ({
    name: 'main', ready: false, restartCount: 0, image: 'i', imageID: 'i', state: { terminated: { exitCode } }
  })
  const running = { name: 'main', ready: true, restartCount: 0, image: 'i', imageID: 'i', state: { running: {} } }
  const withStatus = {
    ...pod,
    status: { containerStatuses: [ended(0)], initContainerStatuses: [ended(1)], ephemeralContainerStatuses: [ended(1)] }
  }
  updates(t, pods, withStatus, [
    [
      {
        'status.phase': 'Running',
        'status.podIPs': [{ ip: '10.0.0.1' }, { ip: '::1' }],
        'status.conditions': [{ type: 'Ready', status: 'True' }, { type: 'example.com/x', status: 'True' }]
      }
    ],
    [{ 'status.phase': 'Whatever', 'status.qosClass': 'Best' }],
    [{ 'status.conditions': [{ type: 'a b', status: 'True' }] }, 'Invalid metadata.conditions[0].Type'],
    [{ 'status.nominatedNodeName': 'N' }, 'Invalid status.nominatedNodeName'],
    [{ 'status.podIPs': [{ ip: 'x' }] }, 'Invalid status.podIPs[0]'],
    [{ 'status.podIPs': [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }, 'Invalid status.podIPs'],
    [
      { 'status.podIPs': [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] }, 'Invalid status.podIPs',
      'Duplicate status.podIPs[1]'
    ],
    [{ 'status.containerStatuses': [running] }, 'Forbidden status.containerStatuses[0].state'],
    [{ 'status.initContainerStatuses': [running] }],
    [{ 'status.ephemeralContainerStatuses': [running] }, 'Forbidden status.ephemeralContainerStatuses[0].state']
  ], 'status')
  updates(
    t, pods, { ...withStatus, spec: { ...pod.spec, restartPolicy: 'Always' } },
    [[{ 'status.containerStatuses': [running] }]], 'status'
  )
})

t.test('ephemeral containers are added and stay', async t => {
  const debugged = {
    ...pod, spec: { ...pod.spec, volumes: [{ name: 'v' }], ephemeralContainers: [{ name: 'debug', image: 'busybox' }] }
  }
  const e = 'spec.ephemeralContainers[1]'
  updates(t, pods, debugged, [
    [
      {
        [e]: {
          name: 'more', image: 'busybox', targetContainerName: 'main', volumeMounts: [{ name: 'v', mountPath: '/v' }]
        }
      }
    ],
    [{ 'spec.ephemeralContainers': [] }, 'Forbidden spec.ephemeralContainers'],
    [{ 'spec.ephemeralContainers[0].image': 'other' }, 'Forbidden spec.ephemeralContainers'],
    [{ [e]: {} }, `Required ${e}`],
    [{ [e]: { name: 'More' } }, `Invalid ${e}[0].name`, `Required ${e}[0].image`],
    [{ [e]: { name: 'debug', image: 'busybox' } }, `Duplicate ${e}.name`],
    [{ [e]: { name: 'main', image: ' busybox' } }, `Duplicate ${e}.name`, `Invalid ${e}[0].image`],
    [{ [e]: { name: 'more', image: 'b', targetContainerName: 'nobody' } }, `NotFound ${e}.targetContainerName`],
    [{ [e]: { name: 'more', image: 'b', imagePullPolicy: 'Maybe' } }, `NotSupported ${e}[0].imagePullPolicy`],
    [
      { [e]: { name: 'more', image: 'b', ports: [{ containerPort: 1 }], resources: { limits: { cpu: '1' } } } },
      `Forbidden ${e}.ports`, `Forbidden ${e}.resources`
    ],
    [
      {
        [e]: {
          name: 'more',
          image: 'b',
          lifecycle: { preStop: { exec: { command: ['a'] } } },
          startupProbe: { exec: { command: ['a'] } }
        }
      },
      `Forbidden ${e}.lifecycle`,
      `Forbidden ${e}.startupProbe`
    ],
    [
      { [e]: { name: 'more', image: 'b', volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'a' }] } },
      `Forbidden ${e}.volumeMounts[0].subPath`
    ]
  ], 'ephemeralcontainers')
})

t.test('the QoS class is Guaranteed if every container has limits equal to its requests', async t => {
  const classOf = (...resources: object[]) => {
    const object = made(pods, {
      ...pod,
      spec: { containers: resources.map((each, index) => ({ name: `c${index}`, image: 'i', resources: each })) },
      status: { phase: 'Running', podIP: '10.0.0.1' }
    })
    pods.strategy.prepareForCreate?.(object, undefined, DEFAULT_GATES)
    t.equal((object as Pod).status.phase, 'Pending')
    t.equal((object as Pod).status.podIP, undefined)
    return (object as Pod).status.qosClass
  }
  const full = { limits: { cpu: '1', memory: '1Gi' } }
  t.equal(classOf({}), 'BestEffort')
  t.equal(classOf({ limits: { 'ephemeral-storage': '1' }, requests: { cpu: '0' } }), 'BestEffort')
  t.equal(classOf(full), 'Guaranteed')
  t.equal(classOf({ ...full, requests: { cpu: '1000m' } }, full), 'Guaranteed')
  t.equal(classOf({ ...full, requests: { cpu: '500m' } }), 'Burstable')
  t.equal(classOf(full, {}), 'Burstable')
  t.equal(classOf({ requests: { memory: '1' } }), 'Burstable')
})
