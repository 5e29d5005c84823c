/**
 * Objects that are larger, stranger or more entangled than anybody intends: a clear answer at little cost, and nothing
 * left behind.
 */
import t from 'tap'
import type { LightMyRequestResponse } from 'fastify'
import { build, type Json } from '../build.js'
import { Loop, MAX_KEPT, refuses, stillServes, type Case } from './refusal.js'

const PODS = '/api/v1/namespaces/default/pods'
const SERVICES = '/api/v1/namespaces/default/services'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const CONFIGS = '/api/v1/namespaces/default/configmaps'

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const mapOf = (
  count: number, entry: (index: number) => [string, string]
): Record<string, string> => Object.fromEntries(many(count, entry))
const main = { name: 'main', image: 'nginx' }
const containers = (count: number): Json[] => many(count, index => ({ name: `c${index}`, image: 'a' }))
const pod = (spec: Json, metadata: Json = {}): Json => ({
  metadata: { name: 'p', ...metadata }, spec: { containers: [main], ...spec }
})
const limits = (amounts: Json): Json => pod({ containers: [{ ...main, resources: { limits: amounts } }] })
const deployment = (selector: Json): Json => ({
  metadata: { name: 'd' },
  spec: { selector, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [main] } } }
})
const service = (spec: Json): Json => ({ metadata: { name: 's' }, spec: { ports: [{ port: 80 }], ...spec } })

t.test('an invalid value is refused by its path', async t => {
  const server = await build(t, { services: { clusterIPRanges: ['10.0.0.0/24'] } })
  const wrong = (title: string, url: string, body: Json, says: RegExp, code = 422): Case => ({
    title, url, body, says, codes: [code]
  })
  const port = (more: Json): Json => service({ ports: [{ port: 80, ...more }] })
  await refuses(t, server, [
    wrong('100,000 containers', PODS, pod({ containers: containers(100_000) }), /more than 50000 values/, 400),
    wrong(
      '2,000 containers of one name', PODS, pod({ containers: containers(2000).map(one => ({ ...one, name: 'x' })) }),
      /spec\.containers\[1\]\.name: Duplicate value/
    ),
    wrong(
      'a label of 64 KiB', PODS, pod({}, { labels: { a: 'x'.repeat(65_536) } }), /metadata\.labels: Invalid value: "x+/
    ),
    wrong(
      'the name of a label of 64 KiB', PODS, pod({}, { labels: { ['x'.repeat(65_536)]: 'a' } }),
      /metadata\.labels: Invalid value: "x+/
    ),
    wrong(
      '15,000 labels that cannot be', PODS, pod({}, { labels: mapOf(15_000, index => [`k${index}`, '-']) }),
      /metadata\.labels: Invalid value: "-"/
    ),
    wrong(
      'a selector of 10,000 terms that cannot be', DEPLOYMENTS,
      deployment({ matchExpressions: many(10_000, () => ({ key: 'a', operator: 'Near' })) }),
      /matchExpressions\[0\]\.operator/
    ),
    wrong(
      'a selector of 10,000 terms that select nothing', DEPLOYMENTS,
      deployment({ matchExpressions: many(10_000, index => ({ key: `k${index}`, operator: 'Exists' })) }),
      /`selector` does not match template `labels`/
    ),
    wrong(
      '8,000 owners that all control',
      PODS,
      pod(
        {},
        {
          ownerReferences: many(8000, index => ({
            apiVersion: 'v1', kind: 'Pod', name: 'o', uid: `u${index}`, controller: true
          }))
        }
      ),
      /metadata\.ownerReferences: Invalid value/
    ),
    wrong(
      'an amount beyond all bounds', PODS, limits({ cpu: '1e9999999' }), /resources\.limits\.cpu: expected a quantity/,
      400
    ),
    wrong(
      'less than nothing', PODS, limits({ memory: '-1e999' }), /resources\.limits\[memory\]: Invalid value: "-1e999"/
    ),
    ...[0, 65_536, -1].flatMap(number => [
      wrong(
        `port ${number} of a service`, SERVICES, service({ ports: [{ port: number }] }),
        /spec\.ports\[0\]\.port: Invalid value/
      ),
      wrong(
        `port ${number} of a container`, PODS, pod({ containers: [{ ...main, ports: [{ containerPort: number }] }] }),
        /containerPort: (?:Invalid|Required) value/
      )
    ]),
    ...[65_536, -1].flatMap(number => [
      wrong(
        `port ${number} behind a service`, SERVICES, port({ targetPort: number }),
        /spec\.ports\[0\]\.targetPort: Invalid value/
      ),
      wrong(
        `port ${number} of a node`, SERVICES,
        { ...port({ nodePort: number }), spec: { ...port({ nodePort: number }).spec, type: 'NodePort' } },
        /spec\.ports\[0\]\.nodePort: Invalid value/
      ),
      wrong(
        `port ${number} of a host`, PODS,
        pod({ containers: [{ ...main, ports: [{ containerPort: 1, hostPort: number }] }] }), /hostPort: Invalid value/
      )
    ]),
    ...[
      '10.0.0.256', '1.2.3', '1.2.3.4.5', '0x0a.0.0.1', '10.0.0.1/24', '1e1.0.0.1'
    ].map(clusterIP => wrong(
      `the address ${clusterIP}`, SERVICES, service({ clusterIP }), /spec\.clusterIPs?(?:\[0\])?: Invalid value/
    ))
  ])
  t.same((await server.get(PODS)).json['items'], [])
})

t.test('valid objects are accepted cheaply, however large', async t => {
  const server = await build(t, { services: { clusterIPRanges: ['10.0.0.0/24'] } })
  const loop = new Loop()
  for (const [title, url, body] of [
    [
      'selectors of 10,000 values',
      DEPLOYMENTS,
      deployment({
        matchExpressions: [{ key: 'app', operator: 'In', values: ['web', ...many(10_000, index => `v${index}`)] }]
      })
    ],
    [
      'selectors of 10,000 terms', DEPLOYMENTS,
      deployment({ matchExpressions: many(10_000, index => ({ key: `k${index}`, operator: 'DoesNotExist' })) })
    ],
    [
      '8,000 node selector terms',
      PODS,
      pod({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: many(8000, () => ({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }))
            }
          }
        }
      })
    ],
    [
      '8,000 owners of one uid',
      PODS,
      pod(
        {}, { ownerReferences: many(8000, index => ({ apiVersion: 'v1', kind: 'Pod', name: `o${index}`, uid: 'u' })) }
      )
    ],
    [
      '1,500 containers with a profile by annotation each',
      PODS,
      pod(
        { containers: containers(1500) },
        {
          annotations: mapOf(3000, index => [
            `container.${index < 1500 ? 'apparmor.security.beta' : 'seccomp.security.alpha'}.orch.io/c` +
            `${1499 - index % 1500}`,
            'unconfined'
          ])
        }
      )
    ],
    [
      '1,500 containers with a profile by field each',
      PODS,
      pod({
        containers: containers(1500).map(one => ({
          ...one, securityContext: { seccompProfile: { type: 'RuntimeDefault' } }
        }))
      })
    ],
    ['10,000 amounts of 1e999', PODS, limits(mapOf(10_000, index => [`example.com/r${index}`, '1e999']))],
    [
      '10,000 taints', '/api/v1/nodes',
      { metadata: { name: 'n' }, spec: { taints: many(10_000, index => ({ key: `k${index}`, effect: 'NoSchedule' })) } }
    ]
  ] as const) {
    const payload = JSON.stringify(body)
    const { result, ms } = await loop.leastHeld(() => server.app.inject({
      method: 'POST', url: `${url}?dryRun=All`, payload, headers: { 'content-type': 'application/json' }
    }))
    t.equal(result.statusCode, 201, title)
    t.ok(ms < MAX_KEPT, `${title}: held the event loop for ${ms.toFixed(0)} ms`)
  }
  await stillServes(t, server)
})

t.test('the expressions of a policy are compiled in steps', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  const loop = new Loop()
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }]
  }
  const expressions = (count: number): string[] => many(count, index => `object.metadata.name != "n${index}"`)
  const mutation = (expression: string): Json => ({
    patchType: 'JSONPatch', jsonPatch: { expression: `${expression} ? [JSONPatch{op: "remove", path: "/data/a"}] : []` }
  })
  for (const [kind, spec] of [
    ['validatingadmissionpolicies', { validations: expressions(9000).map(expression => ({ expression })) }],
    ['mutatingadmissionpolicies', { reinvocationPolicy: 'Never', mutations: expressions(4000).map(mutation) }]
  ] as const) {
    const payload = JSON.stringify({ metadata: { name: 'p' }, spec: { matchConstraints, ...spec } })
    const path = `/apis/admissionregistration.orch.io/v1/${kind}`
    const send = (method: 'POST' | 'DELETE', url: string): Promise<LightMyRequestResponse> => server.app.inject({
      method, url, ...(method === 'POST' ? { payload, headers: { 'content-type': 'application/json' } } : {})
    })
    const { result, ms } = await loop.leastHeld(async () => {
      const made = await send('POST', path)
      await send('DELETE', `${path}/p`)
      return made
    })
    t.equal(result.statusCode, 201, `${kind} ${result.body.slice(0, 300)}`)
    t.ok(ms < MAX_KEPT / 2, `${kind}: held the event loop for ${ms.toFixed(0)} ms`)
  }
})

t.test('quantities of any size are kept, and addresses are read as they were written', async t => {
  const server = await build(t, { services: { clusterIPRanges: ['10.0.0.0/24'] } })
  t.same(
    (await server.post(
      `${PODS}?dryRun=All`, limits({ cpu: '1e999', memory: '9223372036854775808' })
    )).json.spec.containers[0].resources.limits,
    { cpu: '1e999', memory: '9223372036854775808' }
  )
  t.equal(
    (await server.post(SERVICES, service({ clusterIP: '010.000.0.09' }))).json.spec.clusterIP, '010.000.0.09',
    'leading zeros make no octal number of it, as convention'
  )
  t.equal(
    (await server.post(SERVICES, { ...service({ clusterIP: '10.0.0.9' }), metadata: { name: 'same' } })).code, 422,
    'it is taken'
  )
})

t.test('objects that own each other are kept, changed and deleted like others', async t => {
  const server = await build(t)
  const owner = (name: string, uid: string): Json => ({
    apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true
  })
  const uids: string[] = []
  for (const name of ['a', 'b', 'c']) uids.push((await server.post(CONFIGS, { metadata: { name } })).json.metadata.uid)
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    const next = (index + 1) % 3
    const { code } = await server.patch(`${CONFIGS}/${name}`, {
      metadata: {
        ownerReferences: [owner(['a', 'b', 'c'][next] ?? '', uids[next] ?? ''), owner(name, uids[index] ?? '')]
      }
    })
    t.equal(code, 200, `${name} is owned by the next one and by itself`)
  }
  t.equal((await server.delete(`${CONFIGS}/a`, { propagationPolicy: 'Background' })).code, 200)
  t.match(await server.delete(`${CONFIGS}/b`, { propagationPolicy: 'Foreground' }), {
    code: 202, json: { metadata: { finalizers: ['foregroundDeletion'] } }
  })
  t.equal((await server.patch(`${CONFIGS}/b`, { metadata: { finalizers: null } })).code, 200)
  t.equal((await server.delete(`${CONFIGS}/c`)).code, 200)
  t.notOk((await server.get(CONFIGS)).json['items'].some(({ metadata }: Json) => uids.includes(metadata.uid)))
})
