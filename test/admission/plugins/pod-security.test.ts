import t from 'tap'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AdmissionPlugin, AdmissionRequest } from '../../../app.js'
import { podSecuritySettings } from '../../../admission/pod-security/configuration.js'
import { procMount } from '../../../admission/pod-security/privilege-checks.js'
import { podSecurity } from '../../../admission/plugins/pod-security.js'
import { refusal } from '../../../admission/refusal.js'
import type { Json } from '../../build.js'
import { until } from '../../interop/server.js'
import { serve, MERGE, pod, container, type Served } from '../served.js'

const OPTIONS = { disabled: ['ServiceAccount'] }
const LABEL = 'pod-security.orch.io/'
const GROUP = 'pod-security.admission.config.orch.io/v1'

const secure = (context: Json = {}, more: Json = {}): Json => container({ securityContext: context, ...more })
const HARDENED = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' }
}

async function namespace ({ made }: Served, name: string, labels: Json): Promise<string> {
  await made('/api/v1/namespaces', {
    metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [LABEL + key, value])) }
  })
  return `/api/v1/namespaces/${name}/pods`
}

t.test('a violation of the baseline names the check and the field', async t => {
  const served = await serve(t, OPTIONS)
  const pods = await namespace(served, 'base', { enforce: 'baseline' })
  const refused: ReadonlyArray<readonly [Json, string, Json?]> = [
    [
      { containers: [secure({ privileged: true })] },
      'privileged (container "c" must not set securityContext.privileged=true)'
    ],
    [
      { containers: [secure({ capabilities: { add: ['SYS_ADMIN', 'NET_RAW', 'CHOWN'] } })] },
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in ' +
      'securityContext.capabilities.add)'
    ],
    [{ hostPID: true, hostIPC: true }, 'host namespaces (hostPID=true, hostIPC=true)'],
    [
      { volumes: [{ name: 'a', hostPath: { path: '/' } }, { name: 'b', hostPath: { path: '/' } }] },
      'hostPath volumes (volumes "a", "b")'
    ],
    [
      {
        containers: [
          secure({}, { ports: [{ containerPort: 80, hostPort: 8080 }] }),
          secure({}, { name: 'd', ports: [{ containerPort: 81, hostPort: 443 }] })
        ]
      },
      'hostPort (containers "c", "d" use hostPorts 443, 8080)'
    ],
    [
      { hostNetwork: true, containers: [secure({}, { ports: [{ containerPort: 80 }] })] },
      'host namespaces (hostNetwork=true), hostPort (container "c" uses hostPort 80)'
    ],
    [
      {
        securityContext: { seLinuxOptions: { type: 'x_t', user: 'u' } },
        containers: [secure({ seLinuxOptions: { role: 'r' } })]
      },
      'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "x_t"; user may not ' +
      'be set; role may not be set)'
    ],
    [
      { containers: [secure({ seccompProfile: { type: 'Unconfined' } })] },
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")'
    ],
    [
      {
        securityContext: {
          sysctls: [{ name: 'kernel.msgmax', value: '1' }, { name: 'net.ipv4.tcp_syncookies', value: '1' }]
        }
      },
      'forbidden sysctls (kernel.msgmax)'
    ],
    [
      { hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } }, containers: [secure()] },
      'host namespaces (hostNetwork=true), hostProcess (pod must not set ' +
      'securityContext.windowsOptions.hostProcess=true)'
    ],
    [
      {}, 'forbidden AppArmor profile (container.apparmor.security.beta.orch.io/c="unconfined")',
      { annotations: { 'container.apparmor.security.beta.orch.io/c': 'unconfined' } }
    ]
  ]
  for (const [spec, why, metadata] of refused) {
    t.match(
      await served.post(pods, pod('x', spec, metadata)),
      {
        code: 403,
        json: { reason: 'Forbidden', message: `pods "x" is forbidden: violates PodSecurity "baseline:latest": ${why}` }
      },
      why
    )
  }
  t.equal(
    (await served.post(pods, pod('fine', {
      containers: [secure({ capabilities: { add: ['CHOWN'] } })],
      volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }]
    }))).code,
    201
  )
})

t.test('an unmasked /proc of an existing pod is a violation', async t => {
  // an existing pod; new ones lose the field
  const before = pod('x', {
    containers: [secure({ procMount: 'Unmasked' })]
  }) as unknown as Parameters<typeof procMount>[0]
  t.same(procMount(before), {
    reason: 'procMount', detail: 'container "c" must not set securityContext.procMount to "Unmasked"'
  })
})

t.test('the restricted level forbids more, as of its version', async t => {
  const served = await serve(t, OPTIONS)
  const pods = await namespace(served, 'tight', { enforce: 'restricted' })
  const bare =
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
    'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != ' +
    'true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" ' +
    'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [{}, bare],
    [
      { containers: [secure({ ...HARDENED, capabilities: { drop: ['ALL'], add: ['CHOWN'] } })] },
      'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)'
    ],
    [
      {
        containers: [secure(HARDENED)],
        volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }, { name: 'e', emptyDir: {} }]
      },
      'restricted volume types (volume "v" uses restricted volume type "nfs")'
    ],
    [
      { securityContext: { runAsNonRoot: false }, containers: [secure(HARDENED)] },
      'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)'
    ],
    [
      { securityContext: { runAsUser: 0 }, containers: [secure(HARDENED)] },
      'runAsUser=0 (pod must not set runAsUser=0)'
    ],
    [
      {
        securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        containers: [secure({ ...HARDENED, seccompProfile: { type: 'Unconfined' } })]
      },
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")'
    ]
  ]
  for (const [spec, why] of refused) {
    t.match(
      await served.post(pods, pod('x', spec)),
      { code: 403, json: { message: `pods "x" is forbidden: violates PodSecurity "restricted:latest": ${why}` } }, why
    )
  }
  t.equal((await served.post(pods, pod('fine', { containers: [secure(HARDENED)] }))).code, 201)
  t.equal(
    (await served.post(pods, pod('whole', {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost', localhostProfile: 'p' } },
      containers: [
        secure({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } })
      ]
    }))).code,
    201
  )

  const old = await namespace(served, 'old', { enforce: 'restricted', 'enforce-version': 'v1.7' })
  t.match(await served.post(old, pod('x')), {
    code: 403,
    json: {
      message:
        'pods "x" is forbidden: violates PodSecurity "restricted:v1.7": runAsNonRoot != true (pod or container "c" ' +
        'must set securityContext.runAsNonRoot=true)'
    }
  })
  const future = await namespace(served, 'future', { enforce: 'restricted', 'enforce-version': 'v1.99' })
  t.match(await served.post(future, pod('x')), {
    code: 403, json: { message: `pods "x" is forbidden: violates PodSecurity "restricted:v1.99": ${bare}` }
  })
})

t.test(
  'pods and workloads that violate the warn or audit level are stored with a warning and an audit annotation',
  async t => {
    const path = join(mkdtempSync(join(tmpdir(), 'orch-pod-security-')), 'audit.log')
    const served = await serve(t, OPTIONS, { audit: { path } })
    await namespace(served, 'told', { warn: 'baseline', audit: 'restricted', 'audit-version': 'v1.7' })
    const spec = { hostPID: true, containers: [container()] }
    const deployment = {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec } }
    }
    for (const [url, body] of [
      ['/api/v1/namespaces/told/pods', pod('p', spec)], ['/apis/apps/v1/namespaces/told/deployments', deployment]
    ] as const) {
      const answer = await served.post(url, body)
      t.equal(answer.code, 201, url)
      t.match(
        String(answer.headers['warning']),
        /would violate PodSecurity \\"baseline:latest\\": host namespaces \(hostPID=true\)/, url
      )
    }
    const events = (): Json[] => readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Json)
      .filter(({ objectRef, verb, stage }) =>
        verb === 'create' && stage === 'ResponseComplete' && ['pods', 'deployments'].includes(objectRef?.resource))
    await until('both in the audit log', () => events().length === 2)
    for (const { annotations } of events()) {
      t.match(
        annotations[`${LABEL}audit-violations`],
        /^would violate PodSecurity "restricted:v1.7": host namespaces \(hostPID=true\), runAsNonRoot/
      )
    }
    t.equal(
      events().find(({ objectRef }) => objectRef.resource === 'pods')?.['annotations'][`${LABEL}enforce-policy`],
      'privileged:latest'
    )
    const enforced = await namespace(served, 'both', { enforce: 'baseline', warn: 'baseline' })
    t.equal(
      (await served.post(enforced, pod('p', spec))).headers['warning'], undefined, 'a refused pod gets no warning'
    )
    t.equal(
      (await served.post('/apis/apps/v1/namespaces/both/deployments', deployment)).code, 201,
      'the enforced level does not apply to templates'
    )
  }
)

t.test('invalid labels from before the plugin was enabled are reported in the audit log, ' +
  'several as a list', async t => {
  const annotations: Record<string, string> = {}
  const labels = (more: Json): Json =>
    Object.fromEntries(Object.entries(more).map(([key, value]) => [LABEL + key, value]))
  const plugin = podSecurity(podSecuritySettings(undefined))
  for (const [of, told] of [
    [
      { enforce: 'strict' },
      `metadata.labels[${LABEL}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted`
    ],
    [
      { enforce: 'strict', 'warn-version': '1.2' },
      `[metadata.labels[${LABEL}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, ` +
      `metadata.labels[${LABEL}warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"]`
    ]
  ] as const) {
    const request = {
      operation: 'CREATE', group: '', resource: 'pods', subresource: '', kind: 'Pod', namespace: 'n', name: 'p',
      object: pod('p', { containers: [secure(HARDENED)] }), warn: () => {},
      annotate: (key: string, value: string) => { annotations[key] = value },
      reader: { get: async () => ({ metadata: { name: 'n', labels: labels(of) } }) }
    }
    await plugin.validate?.(request as unknown as AdmissionRequest) // the members that the plugin reads
    t.equal(annotations[`${LABEL}error`], `Failed to parse policy: ${told}`)
  }
})

t.test('a refused request still carries the warnings of deprecation and of pod security', async t => {
  const full: AdmissionPlugin = {
    name: 'Full',
    handles: [{ operations: ['CREATE'], groups: ['batch'], resources: ['cronjobs'] }],
    validate: request => { throw refusal(request, 'enough') }
  }
  const served = await serve(t, { ...OPTIONS, plugins: [full] })
  await namespace(served, 'warned', { warn: 'baseline' })
  const job = {
    metadata: { name: 'j' },
    spec: {
      schedule: '* * * * *',
      jobTemplate: {
        spec: { template: { spec: { hostPID: true, restartPolicy: 'Never', containers: [container()] } } }
      }
    }
  }
  const { code, headers } = await served.post('/apis/batch/v1beta1/namespaces/warned/cronjobs', job)
  t.equal(code, 403)
  t.match(String(headers['warning']), /CronJob is deprecated.*host namespaces \(hostPID=true\)/)
})

t.test('an update is evaluated if it can add a violation', async t => {
  const served = await serve(t, OPTIONS)
  const pods = await namespace(served, 'late', {})
  await served.made(pods, pod('p', { hostPID: true }))
  const change = (url: string, body: Json, type = MERGE) => served.as('root', 'PATCH', url, body, type)
  const labelled = await change('/api/v1/namespaces/late', {
    metadata: { labels: { [`${LABEL}enforce`]: 'baseline' } }
  })
  t.match(
    [labelled.code, String(labelled.headers['warning'])],
    [
      200,
      /existing pods in namespace \\"late\\" violate the new PodSecurity enforce level \\"baseline:latest\\".*p: host namespaces/
    ]
  )
  t.equal((await change(`${pods}/p`, { metadata: { labels: { a: 'b' } } })).code, 200)
  t.equal((await change(`${pods}/p/status`, { status: { phase: 'Running' } })).code, 200)
  const strategic = 'application/strategic-merge-patch+json'
  t.match(
    await change(`${pods}/p`, { spec: { containers: [{ name: 'c', image: 'other' }] } }, strategic),
    { code: 403, json: { message: /violates PodSecurity "baseline:latest": host namespaces/ } }
  )
  t.match(
    await change(
      `${pods}/p/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }, strategic
    ),
    { code: 403 }
  )
})

t.test('invalid labels are refused when they are set', async t => {
  const served = await serve(t, OPTIONS)
  const refused = await served.post('/api/v1/namespaces', {
    metadata: { name: 'x', labels: { [`${LABEL}enforce`]: 'strict', [`${LABEL}warn-version`]: '1.2' } }
  })
  t.match(refused, {
    code: 422, json: {
      reason: 'Invalid', details: {
        causes: [
          {
            reason: 'FieldValueInvalid',
            field: `metadata.labels[${LABEL}enforce]`,
            message: 'Invalid value: "strict": must be one of privileged, baseline, restricted'
          },
          {
            reason: 'FieldValueInvalid',
            field: `metadata.labels[${LABEL}warn-version]`,
            message: 'Invalid value: "1.2": must be "latest" or "v1.x"'
          }
        ]
      }
    }
  })
  const open = await serve(t, { disabled: ['PodSecurity'] })
  t.equal(
    (await open.post('/api/v1/namespaces', {
      metadata: { name: 'x', labels: { [`${LABEL}enforce`]: 'strict' } }
    })).code,
    201,
    'without the plugin they are labels as any other'
  )
})

t.test('the configuration sets the levels of unlabelled namespaces and the exemptions', async t => {
  const value = {
    apiVersion: GROUP,
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline' },
    exemptions: { usernames: ['ann'], namespaces: ['free'], runtimeClasses: ['sandboxed'] }
  }
  const served = await serve(t, {
    disabled: ['ServiceAccount', 'RuntimeClass'], configuration: { PodSecurity: { value } }
  })
  const held = await namespace(served, 'held', {})
  const free = await namespace(served, 'free', {})
  t.match(await served.post(held, pod('x', { hostPID: true })), {
    code: 403, json: { message: /violates PodSecurity "baseline:latest"/ }
  })
  t.equal((await served.post(free, pod('x', { hostPID: true }))).code, 201)
  t.equal((await served.as('ann', 'POST', held, pod('anns', { hostPID: true }))).code, 201)
  t.equal((await served.post(held, pod('boxed', { hostPID: true, runtimeClassName: 'sandboxed' }))).code, 201)
  const wrong: ReadonlyArray<readonly [Json, RegExp]> = [
    [
      { ...value, defaults: { enforce: 'strict' } },
      /PodSecurity is wrong: defaults\.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted/
    ],
    [
      { ...value, defaults: { 'warn-version': 'x' } },
      /defaults\.warn-version: Invalid value: "x": must be "latest" or "v1\.x"/
    ],
    [
      { ...value, exemptions: { namespaces: ['a', 'a'] } },
      /exemptions\.namespaces\[1\]: Invalid value: "a": it is there already/
    ],
    [{ ...value, exemptions: { usernames: [''] } }, /exemptions\.usernames\[0\]/],
    [{ ...value, exemption: {} }, /unknown field "exemption"/],
    [
      { ...value, apiVersion: 'v1' },
      /it is PodSecurityConfiguration of v1, not PodSecurityConfiguration of pod-security\.admission\.config\.orch\.io\/v1 or/
    ]
  ]
  for (const [bad, message] of wrong) {
    await t.rejects(serve(t, { configuration: { PodSecurity: { value: bad } } }), { message }, String(message))
  }
})
