import t from 'tap'
import type { Json, Test } from '../../build.js'
import { serve, MERGE, pod, PODS, container, type Served } from '../served.js'

const POLICIES = '/apis/policy/v1beta1/podsecuritypolicies'
const RBAC = '/apis/rbac.authorization.orch.io/v1'
const ANY = { rule: 'RunAsAny' }
const policy = (name: string, spec: Json = {}, annotations: Json = {}): Json => ({
  metadata: { name, annotations },
  spec: { volumes: ['*'], seLinux: ANY, runAsUser: ANY, supplementalGroups: ANY, fsGroup: ANY, ...spec }
})

const start = (t: Test, options = {}): Promise<Served> =>
  serve(t, { enabled: ['PodSecurityPolicy'], disabled: ['ServiceAccount', 'DefaultTolerationSeconds'] }, options)

t.test('without a policy no pod is admitted, and each policy names what it refuses', async t => {
  const { post, made, as } = await start(t)
  t.match(await post(PODS, pod('x')), {
    code: 403,
    json: { message: 'pods "x" is forbidden: PodSecurityPolicy: no providers available to validate pod request' }
  })
  let count = 0
  const refused = async (
    spec: Json, body: Json, findings: string, annotations: Json = {}, metadata: Json = {}
  ): Promise<void> => {
    const name = `p${++count}`
    await made(POLICIES, policy(name, spec, annotations))
    t.match(
      await post(PODS, pod('x', body, metadata)),
      { code: 403, json: { message: `pods "x" is forbidden: PodSecurityPolicy: unable to admit pod: [${findings}]` } },
      findings
    )
    await as('root', 'DELETE', `${POLICIES}/${name}`)
  }
  const secure = (context: Json, more: Json = {}): Json => ({
    containers: [container({ securityContext: context, ...more })]
  })
  const at = 'spec.containers[0].securityContext'
  await refused(
    {}, secure({ privileged: true }), `${at}.privileged: Invalid value: true: Privileged containers are not allowed`
  )
  await refused(
    {},
    { hostNetwork: true, hostPID: true },
    'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used ' +
    'spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used'
  )
  await refused(
    { hostPorts: [{ min: 80, max: 90 }] }, secure({}, { ports: [{ containerPort: 1, hostPort: 91 }] }),
    'spec.containers[0].hostPort: Invalid value: 91: Host port 91 is not allowed to be used. Allowed ports: [80-90]'
  )
  await refused(
    { volumes: ['secret'] }, { volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
    'spec.volumes[0]: Invalid value: "hostPath": hostPath volumes are not allowed to be used'
  )
  await refused(
    { allowedHostPaths: [{ pathPrefix: '/srv' }] }, { volumes: [{ name: 'v', hostPath: { path: '/srvs' } }] },
    'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/srvs": is not allowed to be used'
  )
  await refused(
    { allowedHostPaths: [{ pathPrefix: '/srv', readOnly: true }] },
    {
      volumes: [{ name: 'v', hostPath: { path: '/srv/a' } }],
      ...secure({}, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })
    },
    'spec.containers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only'
  )
  await refused(
    { allowedCSIDrivers: [{ name: 'a.example.com' }] }, { volumes: [{ name: 'v', csi: { driver: 'b.example.com' } }] },
    'spec.volumes[0].csi.driver: Invalid value: "b.example.com": Inline CSI driver is not allowed to be used'
  )
  await refused(
    { runAsUser: { rule: 'MustRunAs', ranges: [{ min: 1, max: 5 }] } }, secure({ runAsUser: 6 }),
    `${at}.runAsUser: Invalid value: 6: must be in the ranges: [{1 5}]`
  )
  await refused(
    { runAsUser: { rule: 'MustRunAsNonRoot' } }, secure({ runAsUser: 0 }),
    `${at}.runAsUser: Invalid value: 0: running with the root UID is forbidden`
  )
  await refused(
    { fsGroup: { rule: 'MayRunAs', ranges: [{ min: 1, max: 5 }] } }, { securityContext: { fsGroup: 6 } },
    'spec.securityContext.fsGroup: Invalid value: 6: group 6 must be in the ranges: [{1 5}]'
  )
  await refused(
    { seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0' } } },
    { securityContext: { seLinuxOptions: { level: 's0' } }, ...secure({ seLinuxOptions: { level: 's1' } }) },
    `${at}.seLinuxOptions.level: Invalid value: "s1": must be s0`
  )
  await refused(
    { allowedCapabilities: ['KILL'] }, secure({ capabilities: { add: ['CHOWN', 'KILL'] } }),
    `${at}.capabilities.add: Invalid value: "CHOWN": capability may not be added`
  )
  await refused(
    { allowPrivilegeEscalation: false }, secure({ allowPrivilegeEscalation: true }),
    `${at}.allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed`
  )
  await refused(
    { readOnlyRootFilesystem: true }, secure({ readOnlyRootFilesystem: false }),
    `${at}.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true`
  )
  await refused(
    {}, secure({ procMount: 'Unmasked' }), `${at}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`
  )
  await refused(
    { allowedUnsafeSysctls: ['kernel.msg*'] },
    { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }, { name: 'kernel.sem', value: '1' }] } },
    'pod.spec.securityContext.sysctls[1]: Forbidden: unsafe sysctl "kernel.sem" is not allowed'
  )
  await refused(
    {},
    { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    'pod.metadata.annotations[seccomp.security.alpha.orch.io/pod]: Forbidden: seccomp may not be set ' +
    'pod.metadata.annotations[container.seccomp.security.alpha.orch.io/c]: Forbidden: seccomp may not be set'
  )
  await refused(
    {},
    {},
    'pod.metadata.annotations[container.apparmor.security.beta.orch.io/c]: Forbidden: unconfined is not an allowed ' +
    'profile. Allowed values: "runtime/default"',
    { 'apparmor.security.beta.orch.io/allowedProfileNames': 'runtime/default' },
    { annotations: { 'container.apparmor.security.beta.orch.io/c': 'unconfined' } }
  )
})

t.test('policies that change nothing are preferred; otherwise the first one fills in what the pod omits', async t => {
  const { made, as } = await start(t)
  await made(POLICIES, policy('a-strict', {
    runAsUser: { rule: 'MustRunAs', ranges: [{ min: 7, max: 9 }] },
    runAsGroup: { rule: 'MustRunAs', ranges: [{ min: 3, max: 4 }] },
    fsGroup: { rule: 'MustRunAs', ranges: [{ min: 5, max: 6 }] },
    supplementalGroups: { rule: 'MustRunAs', ranges: [{ min: 8, max: 8 }] },
    seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0' } },
    requiredDropCapabilities: ['ALL'],
    defaultAddCapabilities: ['KILL'],
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false
  }))
  const { metadata, spec } = await made(PODS, pod('set'))
  t.equal(metadata.annotations['orch.io/psp'], 'a-strict')
  t.same(spec.securityContext, { seLinuxOptions: { level: 's0' }, supplementalGroups: [8], fsGroup: 5 })
  t.same(spec.containers[0].securityContext, {
    capabilities: { add: ['KILL'], drop: ['ALL'] },
    runAsUser: 7,
    runAsGroup: 3,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false
  })
  t.same(
    (await made(
      PODS, pod('empty', { securityContext: { supplementalGroups: [] } })
    ))['spec'].securityContext.supplementalGroups,
    [8],
    'an empty list says nothing'
  )
  await made(POLICIES, policy('b-open', { privileged: true }))
  t.equal((await made(PODS, pod('kept')))['metadata'].annotations['orch.io/psp'], 'b-open')
  t.equal((await as('root', 'PATCH', `${PODS}/set`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
  await as('root', 'DELETE', `${POLICIES}/b-open`)
  const labelled = { metadata: { labels: { a: 'b' } } }
  t.match(
    await as('root', 'PATCH', `${PODS}/kept`, labelled, MERGE),
    { code: 403, json: { message: /unable to validate pod: \[/ } }, 'whatever the update changes'
  )
  t.equal(
    (await as('root', 'PATCH', `${PODS}/kept`, { metadata: { finalizers: ['example.com/hold'] } }, MERGE)).code, 200,
    'but not where it is only held, or let go'
  )
  const image = { spec: { containers: [{ name: 'c', image: 'other' }] } }
  t.match(
    await as('root', 'PATCH', `${PODS}/kept`, image, 'application/strategic-merge-patch+json'),
    { code: 403, json: { message: /PodSecurityPolicy: unable to validate pod: \[/ } },
    'an update changes nothing, and so may not fit any more'
  )
})

t.test('categories of a level may be in any order, and a policy may allow no runtime class', async t => {
  const { as, made } = await start(t)
  await made(POLICIES, policy('levels', {
    seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0:c1,c0' } },
    runtimeClass: { allowedRuntimeClassNames: [] }
  }))
  await made('/apis/node.orch.io/v1/runtimeclasses', { metadata: { name: 'rc' }, handler: 'h' })
  const at = (level: string, more: Json = {}): Json => ({ securityContext: { seLinuxOptions: { level } }, ...more })
  t.equal((await as('root', 'POST', PODS, pod('same', at('s0:c0,c1')))).code, 201)
  for (const level of ['s0:c0', 's1:c0,c1', 'c0,c1', 's0']) {
    t.equal((await as('root', 'POST', PODS, pod('other', at(level)))).code, 403, level)
  }
  t.match(await as('root', 'POST', PODS, pod('runs', at('s0:c0,c1', { runtimeClassName: 'rc' }))), {
    code: 403, json: { message: /spec.runtimeClassName/ }
  })
})

t.test('a policy applies to users who may use it, and to pods whose service account may', async t => {
  const { as, made } = await start(t, { authorization: { modes: ['RBAC'] } })
  await made(POLICIES, policy('mine', { privileged: true }))
  await made(`${RBAC}/clusterroles`, {
    metadata: { name: 'pods' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }]
  })
  await made(`${RBAC}/clusterroles`, {
    metadata: { name: 'use' },
    rules: [{ apiGroups: ['policy'], resources: ['podsecuritypolicies'], resourceNames: ['mine'], verbs: ['use'] }]
  })
  const bind = (role: string, subject: Json) => made(`${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name: `${role}-${subject['name']}` },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: role },
    subjects: [subject]
  })
  await bind('pods', { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.orch.io' })
  t.match(await as('ann', 'POST', PODS, pod('x')), {
    code: 403, json: { message: 'pods "x" is forbidden: PodSecurityPolicy: unable to admit pod: []' }
  })
  await made(`${RBAC}/clusterroles`, {
    metadata: { name: 'older' },
    rules: [{ apiGroups: ['extensions'], resources: ['podsecuritypolicies'], resourceNames: ['mine'], verbs: ['use'] }]
  })
  await bind('older', { kind: 'ServiceAccount', name: 'old-runner', namespace: 'default' })
  t.equal((await as('ann', 'POST', PODS, pod('by-older-role', { serviceAccountName: 'old-runner' }))).code, 201)
  await bind('use', { kind: 'ServiceAccount', name: 'runner', namespace: 'default' })
  t.equal((await as('ann', 'POST', PODS, pod('by-account', { serviceAccountName: 'runner' }))).code, 201)
  await bind('use', { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.orch.io' })
  t.equal((await as('ann', 'POST', PODS, pod('by-user'))).code, 201)
})
