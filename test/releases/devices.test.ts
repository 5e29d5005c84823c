/** Claims to devices, classes and slices, where release 1.36 is emulated. */
import t from 'tap'
import { disabledApis } from '../../config/runtime-config.js'
import { build, TABLE, type Client, type Json } from '../build.js'
import { polled } from '../polled.js'

const GROUP = '/apis/resource.orch.io'
const CLASSES = `${GROUP}/v1/deviceclasses`
const SLICES = `${GROUP}/v1/resourceslices`
const CLAIMS = `${GROUP}/v1/namespaces/default/resourceclaims`
const TEMPLATES = `${GROUP}/v1/namespaces/default/resourceclaimtemplates`
const causesOf = ({ json }: { json: Json }): Json[] =>
  (json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []
const causes = (answer: { json: Json }): string[] => causesOf(answer).map(
  ({ field, reason }) => `${String(field)}: ${String(reason).replace('FieldValue', '')}`
)
const messages = (answer: { json: Json }): string[] => causesOf(answer).map(({ message }) => String(message))
const claim = (devices: Json, name = 'a'): Json => ({ metadata: { name }, spec: { devices } })
const asked = (exactly: Json): Json =>
  claim({ requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu', ...exactly } }] })
const many = <T>(count: number, of: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => of(index))
const slice = (spec: Json, name = 's'): Json => ({
  metadata: { name },
  spec: {
    driver: 'gpu.example.com', nodeName: 'n1', pool: { name: 'n1', generation: 1, resourceSliceCount: 1 }, ...spec
  }
})
const device = (more: Json, name = 'd'): Json => ({ name, ...more })
const later = async (): Promise<Client> => await build(t, { emulatedVersion: '1.36' })

t.test('a claim asks for devices by class, and what it asks for stays', async t => {
  const server = await later()
  const made = await server.post(CLAIMS, claim({
    requests: [
      { name: 'gpu', exactly: { deviceClassName: 'gpu' } },
      { name: 'any', firstAvailable: [{ name: 'big', deviceClassName: 'big', count: 2 }] }
    ],
    constraints: [{ requests: ['gpu', 'any/big'], matchAttribute: 'gpu.example.com/model' }],
    config: [{ requests: ['any'], opaque: { driver: 'gpu.example.com', parameters: { a: 1 } } }]
  }))
  t.equal(made.code, 201, JSON.stringify(made.json))
  t.same(made.json['spec'].devices.requests[0].exactly, {
    deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1
  })
  t.match(made.json['spec'].devices.requests[1].firstAvailable, [{ allocationMode: 'ExactCount', count: 2 }])
  t.same(causes(await server.patch(`${CLAIMS}/a`, { spec: { devices: { requests: [] } } })), ['spec: Invalid'])
  t.equal((await server.patch(`${CLAIMS}/a`, { metadata: { labels: { a: 'b' } } })).code, 200)
  t.match((await server.get(`${CLAIMS}/a`, { accept: TABLE })).json['rows'][0].cells.slice(0, 2), ['a', 'pending'])
  t.match((await server.delete(`${CLAIMS}/a`)).json, { kind: 'ResourceClaim' })
})

t.test('parameters of a template keep a time that is null, and its metadata has none', async t => {
  const server = await later()
  const parameters = { apiVersion: 'v1', metadata: { creationTimestamp: null } }
  const spec = { devices: { config: [{ opaque: { driver: 'gpu.example.com', parameters } }] } }
  const made = await server.post(
    TEMPLATES, { metadata: { name: 'a' }, spec: { metadata: { labels: { a: 'b' } }, spec } }
  )
  for (const { json } of [
    made, await server.get(`${TEMPLATES}/a`), { json: (await server.get(TEMPLATES)).json['items'][0] as Json }
  ]) {
    t.strictSame(
      [json['spec'].metadata, json['spec'].spec.devices.config[0].opaque.parameters],
      [{ labels: { a: 'b' } }, parameters]
    )
  }
})

t.test('what a claim may not ask for is refused by its field', async t => {
  const server = await later()
  const at = 'spec.devices.requests[0]'
  for (const [body, expected] of [
    [claim({ requests: [{ name: 'gpu' }] }), [`${at}: Required`]],
    [
      claim({
        requests: [
          { name: 'gpu', exactly: { deviceClassName: 'a' }, firstAvailable: [{ name: 'b', deviceClassName: 'b' }] }
        ]
      }),
      [`${at}: Invalid`]
    ],
    [
      claim({ requests: [{ name: 'A', exactly: {} }] }),
      [`${at}.name: Invalid`, `${at}.exactly.deviceClassName: Required`]
    ],
    [
      claim({ requests: many(2, () => ({ name: 'x', exactly: { deviceClassName: 'a' } })) }),
      ['spec.devices.requests[1]: Duplicate']
    ],
    [
      claim({ requests: many(33, index => ({ name: `r${index}`, exactly: { deviceClassName: 'a' } })) }),
      ['spec.devices.requests: TooMany']
    ],
    [asked({ allocationMode: 'All', count: 1 }), [`${at}.exactly.count: Invalid`]],
    [asked({ count: -1 }), [`${at}.exactly.count: Invalid`]],
    [asked({ allocationMode: 'Some' }), [`${at}.exactly.allocationMode: NotSupported`]],
    [asked({ selectors: [{}] }), [`${at}.exactly.selectors[0].cel: Required`]],
    [
      asked({ selectors: [{ cel: { expression: 'device.nothing' } }] }),
      [`${at}.exactly.selectors[0].cel.expression: Invalid`]
    ],
    [asked({ selectors: [{ cel: { expression: '"text"' } }] }), [`${at}.exactly.selectors[0].cel.expression: Invalid`]],
    [
      asked({ selectors: [{ cel: { expression: `true || ${'x'.repeat(11_000)}` } }] }),
      [`${at}.exactly.selectors[0].cel.expression: TooLong`]
    ],
    [
      asked({
        selectors: [
          {
            cel: {
              expression:
                'device.attributes.all(a, device.attributes.all(b, ' +
                'device.attributes.all(c, device.attributes.all(d, a + b + c + d != ""))))'
            }
          }
        ]
      }),
      [`${at}.exactly.selectors[0].cel.expression: Forbidden`]
    ],
    [asked({ selectors: many(33, () => ({ cel: { expression: 'true' } })) }), [`${at}.exactly.selectors: TooMany`]],
    [
      asked({ tolerations: [{ operator: 'Exists', value: 'a' }, { operator: 'Like', effect: 'Never' }] }),
      [
        `${at}.exactly.tolerations[0].value: Invalid`, `${at}.exactly.tolerations[1].operator: NotSupported`,
        `${at}.exactly.tolerations[1].effect: NotSupported`
      ]
    ],
    [
      claim({
        requests: [{ name: 'gpu', exactly: { deviceClassName: 'a' } }],
        constraints: [
          {}, { requests: ['cpu'], matchAttribute: 'model' }, { requests: ['gpu/a/b'], distinctAttribute: 'a.b/c' }
        ]
      }),
      [
        'spec.devices.constraints[0]: Required', 'spec.devices.constraints[1].requests[0]: Invalid',
        'spec.devices.constraints[1].matchAttribute: Invalid', 'spec.devices.constraints[2].requests[0]: Invalid'
      ]
    ],
    [
      claim({
        config: [
          {},
          { opaque: { driver: '', parameters: [] } },
          { opaque: { driver: 'a', parameters: { text: 'x'.repeat(11_000) } } }
        ]
      }),
      [
        'spec.devices.config[0].opaque: Required', 'spec.devices.config[1].opaque.driver: Required',
        'spec.devices.config[1].opaque.parameters: Invalid', 'spec.devices.config[2].opaque.parameters: TooLong'
      ]
    ]
  ] as Array<[Json, string[]]>) {
    const answer = await server.post(CLAIMS, body)
    t.equal(answer.code, 422)
    t.same(causes(answer), expected)
    t.same(
      causes(await server.post(TEMPLATES, { metadata: { name: 'a' }, spec: { spec: body['spec'] as Json } })),
      expected.map(one => one.replace('spec.', 'spec.spec.'))
    )
  }
  t.equal(
    (await server.post(CLAIMS, asked({
      selectors: [
        {
          cel: {
            expression:
              'cel.bind(a, device.attributes["gpu.example.com"], ' +
              'a.model == "x" && a.version.isGreaterThan(semver("1.0.0"))) && ' +
              'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0 && ' +
              'device.allowMultipleAllocations'
          }
        }
      ]
    }))).code,
    201
  )
})

t.test('the status of a claim names devices of its requests, and their state goes with them', async t => {
  const server = await later()
  await server.post(CLAIMS, asked({}))
  const result = { request: 'gpu', driver: 'gpu.example.com', pool: 'n1', device: 'd1' }
  const status = async (body: Json) => await server.patch(`${CLAIMS}/a/status`, { status: body })
  const consumer = { resource: 'pods', name: 'p', uid: 'u' }
  t.same(causes(await status({ reservedFor: [consumer, consumer, { resource: '', name: '', uid: '' }] })), [
    'status.reservedFor[2].resource: Required', 'status.reservedFor[2].name: Required',
    'status.reservedFor[2].uid: Required',
    'status.reservedFor[1]: Duplicate', 'status.reservedFor: Forbidden'
  ])
  t.same(causes(await status({
    allocation: {
      devices: {
        results: [{ request: 'cpu', driver: '', pool: 'A', device: 'B', bindingConditions: ['a'] }],
        config: [{ source: 'Elsewhere', opaque: { driver: 'a', parameters: {} } }]
      }
    }
  })), [
    'status.allocation.devices.results[0].request: Invalid', 'status.allocation.devices.results[0].driver: Required',
    'status.allocation.devices.results[0].pool: Invalid',
    'status.allocation.devices.results[0].device: Invalid',
    'status.allocation.devices.results[0].bindingFailureConditions: Invalid',
    'status.allocation.devices.config[0].source: NotSupported'
  ])
  t.equal((await status({ allocation: { devices: { results: [result] } }, reservedFor: [consumer] })).code, 200)
  t.match(
    (await server.get(`${CLAIMS}/a`, { accept: TABLE })).json['rows'][0].cells.slice(0, 2), ['a', 'allocated,reserved']
  )
  t.same(
    causes(await status({ allocation: { devices: { results: [{ ...result, device: 'd2' }] } } })),
    ['status.allocation: Invalid']
  )
  const { request: _, ...named } = result
  t.same(causes(await status({ devices: [{ ...named, device: 'other' }] })), ['status.devices[0]: Invalid'])
  t.same(causes(await status({
    devices: [{
      ...named, data: [],
      networkData: { ips: ['10.0.0.1', '010.0.0.2/24', '2001:DB8::1/64'], interfaceName: 'x'.repeat(300) }
    }]
  })),
  [
    'status.devices[0].data: Invalid', 'status.devices[0].networkData.interfaceName: TooLong',
    ...[0, 1, 2].map(index => `status.devices[0].networkData.ips[${index}]: Invalid`)
  ])
  t.same(
    causes(await status({ devices: many(5000, index => ({ ...named, device: `d${index}` })) })),
    ['status.devices: TooMany']
  )
  t.equal((await status({ devices: [{ ...named, data: { a: 1 }, networkData: { ips: ['10.0.0.1/24'] } }] })).code, 200)
  t.same(causes(await status({ allocation: null })), ['status.reservedFor: Forbidden'])
  const gone = await status({ allocation: null, reservedFor: null })
  t.equal(gone.code, 200)
  t.same(gone.json['status'], {}, 'the state of the device too')
})

t.test('a slice offers devices of one driver on nodes', async t => {
  const server = await later()
  const full = {
    attributes: { model: { string: 'x' }, 'other.example.com/v': { version: '1.2.3' } },
    capacity: { memory: { value: '8Gi' } },
    taints: [{ key: 'a', effect: 'NoExecute' }]
  }
  const made = await server.post(SLICES, slice({ devices: [device(full)] }))
  t.equal(made.code, 201, JSON.stringify(made.json))
  t.equal(made.json['metadata'].generation, 1)
  t.match(made.json['spec'].devices[0].taints, [{ timeAdded: /Z$/ }])
  for (const [selector, found] of [
    ['spec.nodeName=n1', 1], ['spec.driver=other', 0], ['spec.driver=gpu.example.com,spec.nodeName=n1', 1]
  ] as const) {
    t.equal((await server.get(`${SLICES}?fieldSelector=${encodeURIComponent(selector)}`)).json['items'].length, found)
  }
  t.match((await server.get(`${SLICES}/s`, { accept: TABLE })).json['rows'][0].cells.slice(0, 4), [
    's', 'n1', 'gpu.example.com', 'n1'
  ])
  t.same(
    causes(await server.patch(`${SLICES}/s`, { spec: { driver: 'a', nodeName: 'n2', pool: { name: 'b' } } })),
    ['spec.pool.name: Invalid', 'spec.driver: Invalid', 'spec.nodeName: Invalid']
  )
  t.match(await server.patch(`${SLICES}/s`, { spec: { pool: { generation: 2 } } }), {
    code: 200, json: { metadata: { generation: 2 } }
  })
  for (const [spec, expected] of [
    [{ nodeName: undefined }, ['spec: Required']],
    [{ allNodes: true }, ['spec: Invalid']],
    [{ nodeName: '' }, ['spec.nodeName: Invalid', 'spec: Required']],
    [
      { pool: { name: '', generation: -1, resourceSliceCount: 0 } },
      ['spec.pool.name: Required', 'spec.pool.resourceSliceCount: Invalid', 'spec.pool.generation: Invalid']
    ],
    [{ devices: many(129, index => device({}, `d${index}`)) }, ['spec.devices: TooMany']],
    [
      { devices: many(65, index => device({ taints: [{ key: 'a', effect: 'None' }] }, `d${index}`)) },
      ['spec.devices: TooMany']
    ],
    [{ devices: many(2, () => device({})) }, ['spec.devices[1]: Duplicate']],
    [
      { devices: [device({ attributes: Object.fromEntries(many(33, index => [`a${index}`, { int: 1 }])) })] },
      ['spec.devices[0]: Invalid']
    ],
    [{ devices: [device({ attributes: { 'a-b': { int: 1, bool: true }, 'a/b/c': {}, v: { version: '1' } } })] }, [
      'spec.devices[0].attributes: Invalid', 'spec.devices[0].attributes[a-b]: Invalid',
      'spec.devices[0].attributes: Invalid', 'spec.devices[0].attributes[a/b/c]: Invalid',
      'spec.devices[0].attributes[v].version: Invalid'
    ]],
    [
      { devices: [device({ attributes: { v: { version: `v${'1'.repeat(64)}` } } })] },
      ['spec.devices[0].attributes[v].version: TooLong', 'spec.devices[0].attributes[v].version: Invalid']
    ],
    [
      { devices: [device({ taints: [{ key: '!', value: '!', effect: 'Some' }] })] },
      [
        'spec.devices[0].taints[0].key: Invalid', 'spec.devices[0].taints[0].value: Invalid',
        'spec.devices[0].taints[0].effect: NotSupported'
      ]
    ],
    [{ devices: [device({ nodeName: 'n1' })] }, ['spec.devices[0]: Invalid']],
    [
      {
        nodeName: undefined,
        perDeviceNodeSelection: true,
        devices: [device({}), device({ nodeName: 'a', allNodes: true }, 'e')]
      },
      ['spec.devices[0]: Required', 'spec.devices[1]: Invalid']
    ],
    [
      { devices: [device({})], sharedCounters: [{ name: 'a', counters: {} }] },
      ['spec: Invalid', 'spec.sharedCounters[0].counters: Required']
    ],
    [
      { devices: [device({ consumesCounters: [{ counterSet: '', counters: { A: { value: '1' } } }] })] },
      [
        'spec.devices[0].consumesCounters[0].counterSet: Required',
        'spec.devices[0].consumesCounters[0].counters: Invalid'
      ]
    ],
    [
      { devices: [device({ capacity: { m: { value: '8', requestPolicy: { default: '1' } } } })] },
      ['spec.devices[0].capacity[m].requestPolicy: Forbidden']
    ],
    [{
      devices: [
        device({
          allowMultipleAllocations: true,
          capacity: { m: { value: '8', requestPolicy: { default: '3', validValues: ['1', '9', '4'] } } }
        })
      ]
    },
    [
      'spec.devices[0].capacity[m].requestPolicy.validValues[1]: Invalid',
      'spec.devices[0].capacity[m].requestPolicy.validValues[2]: Invalid',
      'spec.devices[0].capacity[m].requestPolicy.validValues: Invalid'
    ]],
    [{
      devices: [
        device({
          allowMultipleAllocations: true,
          capacity: {
            m: { value: '8', requestPolicy: { default: '4', validRange: { min: '1', max: '8', step: '2' } } }
          }
        })
      ]
    },
    [
      'spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid',
      'spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid'
    ]]
  ] as Array<[Json, string[]]>) {
    const answer = await server.post(SLICES, slice(spec, 'bad'))
    t.same([answer.code, causes(answer)], [422, expected], JSON.stringify(spec).slice(0, 200))
  }
  t.match((await server.post(SLICES, slice({ driver: 'GPU.example.com' }, 'loud'))).headers['warning'], [
    /driver names should be lowercase/
  ])
})

t.test('a class has selectors, which an update that keeps them does not check again', async t => {
  const server = await later()
  const body = (expression: string, name = 'gpu'): Json => ({
    metadata: { name }, spec: { selectors: [{ cel: { expression } }] }
  })
  t.match(messages(await server.post(CLASSES, body('device.driver =='))), [/compilation failed: .*\n.*\^/s])
  t.equal((await server.post(CLASSES, body('device.driver == "a"'))).code, 201)
  t.same(
    causes(await server.patch(`${CLASSES}/gpu`, { spec: { extendedResourceName: 'cpu', config: [{}] } })),
    ['spec.config[0].opaque: Required', 'spec.extendedResourceName: Invalid']
  )
  const parameters = { n: [-9007199254740992, 1e21] }
  t.match(
    (await server.patch(`${CLASSES}/gpu`, {
      spec: { config: [{ opaque: { driver: 'gpu.example.com', parameters } }] }
    })).json,
    { kind: 'DeviceClass' },
    'settings may have any number'
  )
  t.match(await server.patch(`${CLASSES}/gpu`, { spec: { extendedResourceName: 'example.com/gpu' } }), {
    code: 200, json: { metadata: { generation: 3 } }
  })
})

t.test('fields of gates that are off are dropped', async t => {
  const server = await build(t, {
    emulatedVersion: '1.36', featureGates: { DRADeviceTaints: false, DRAPartitionableDevices: false }
  })
  const made = await server.post(
    SLICES,
    slice({
      sharedCounters: [{ name: 'a', counters: { b: { value: '1' } } }],
      devices: [device({ taints: [{ key: 'a', effect: 'None' }], attributes: { a: { ints: [1], int: 1 } } })]
    })
  )
  t.same(
    [made.code, made.json['spec'].devices, made.json['spec'].sharedCounters],
    [201, [device({ attributes: { a: { int: 1 } } })], undefined]
  )
})

t.test('v1beta1 has another form of the same objects', async t => {
  const disabled = disabledApis(
    new Map([['resource.orch.io/v1beta1', 'true'], ['resource.orch.io/v1beta2', 'true']]), undefined
  )
  const server = await build(t, { emulatedVersion: '1.36', api: { disabled } })
  const beta = `${GROUP}/v1beta1`
  const made = await server.post(
    `${beta}/namespaces/default/resourceclaims`,
    claim({
      requests: [
        { name: 'gpu', deviceClassName: 'gpu' }, { name: 'any', firstAvailable: [{ name: 'a', deviceClassName: 'b' }] }
      ]
    })
  )
  t.equal(made.code, 201, JSON.stringify(made.json))
  t.match(made.headers['warning'], [
    /resource.orch.io\/v1beta1 ResourceClaim is deprecated in v1.35\+, unavailable in v1.38\+/
  ])
  t.same(made.json['spec'].devices.requests, [
    { name: 'gpu', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
    {
      name: 'any',
      deviceClassName: '',
      firstAvailable: [{ name: 'a', deviceClassName: 'b', allocationMode: 'ExactCount', count: 1 }]
    }
  ])
  t.match((await server.get(`${CLAIMS}/a`)).json['spec'].devices.requests, [
    { name: 'gpu', exactly: { deviceClassName: 'gpu', count: 1 } }, { name: 'any', firstAvailable: [{ name: 'a' }] }
  ])
  t.match(
    (await server.get(`${GROUP}/v1beta2/namespaces/default/resourceclaims/a`)).json['spec'].devices.requests[0],
    { exactly: { count: 1 } }
  )
  t.equal(
    (await server.post(`${beta}/namespaces/default/resourceclaimtemplates`, {
      metadata: { name: 'a' }, spec: { spec: { devices: { requests: [{ name: 'gpu', deviceClassName: 'gpu' }] } } }
    })).code,
    201
  )
  t.match((await server.get(`${TEMPLATES}/a`)).json['spec'].spec.devices.requests, [
    { exactly: { deviceClassName: 'gpu' } }
  ])
  t.equal(
    (await server.post(
      `${beta}/resourceslices`, slice({ devices: [{ name: 'd', basic: { attributes: { a: { int: 1 } } } }] })
    )).code,
    201
  )
  t.match((await server.get(`${SLICES}/s`)).json['spec'], {
    nodeName: 'n1', devices: [{ name: 'd', attributes: { a: { int: 1 } } }]
  })
  t.match(
    (await server.get(`${beta}/resourceslices?fieldSelector=spec.nodeName%3Dn1`)).json['items'][0].spec,
    { nodeName: 'n1', devices: [{ name: 'd', basic: { attributes: { a: { int: 1 } } } }] }
  )
})

t.test('the release of the interface has none of it', async t => {
  const server = await build(t)
  t.same(
    await Promise.all([CLASSES, SLICES, CLAIMS, TEMPLATES].map(async url => (await server.get(url)).code)),
    [404, 404, 404, 404]
  )
})

const RBAC = '/apis/rbac.authorization.orch.io/v1'
type Call = (method: string, url: string, body?: unknown) => ReturnType<Client['get']>
/** Calls of an administrator, or of somebody else. */
const as = (
  server: Client, user = '', headers: Record<string, string> = {}
): Call => async (method, url, body) => await server.call(method, url, body, {
  authorization: 'Bearer admin',
  'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
  ...user === '' ? {} : { 'impersonate-user': user }, ...headers
})
const withRoles = async (): Promise<Client> => await build(t, {
  emulatedVersion: '1.36',
  authorization: { modes: ['RBAC'] },
  authentication: { tokens: 'admin,admin,1,system:masters\n' }
})
async function grant (server: Client, user: string, rules: Json[]): Promise<void> {
  const [admin, apiGroup] = [as(server), 'rbac.authorization.orch.io']
  t.equal(
    (await admin('POST', `${RBAC}/clusterroles`, {
      metadata: { name: user }, rules: rules.map(rule => ({ apiGroups: ['resource.orch.io'], ...rule }))
    })).code,
    201
  )
  t.equal(
    (await admin('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: user },
      roleRef: { kind: 'ClusterRole', name: user, apiGroup },
      subjects: [{ kind: 'User', name: user, apiGroup }]
    })).code,
    201
  )
}

t.test('access for administration needs a label of the namespace', async t => {
  const server = await withRoles()
  const admin = as(server)
  const body = asked({ adminAccess: true })
  t.same(causes(await admin('POST', CLAIMS, body)), ['spec.devices.requests[0].adminAccess: Forbidden'])
  t.same(
    causes(await admin('POST', TEMPLATES, { metadata: { name: 'a' }, spec: { spec: body['spec'] as Json } })),
    ['spec.devices.requests[0].adminAccess: Forbidden']
  )
  t.equal((await admin('POST', CLAIMS, asked({}))).code, 201)
  const allocate = {
    status: {
      allocation: { devices: { results: [{ request: 'gpu', driver: 'a', pool: 'b', device: 'c', adminAccess: true }] } }
    }
  }
  t.same(causes(await admin('PATCH', `${CLAIMS}/a/status`, allocate)), [
    'status.allocation.devices.results[0].adminAccess: Forbidden'
  ])
  await admin('PATCH', '/api/v1/namespaces/default', {
    metadata: { labels: { 'resource.orch.io/admin-access': 'true' } }
  })
  t.equal((await admin('POST', CLAIMS, { ...body, metadata: { name: 'b' } })).code, 201)
  t.equal((await admin('PATCH', `${CLAIMS}/a/status`, allocate)).code, 200)
  await admin('PATCH', '/api/v1/namespaces/default', { metadata: { labels: null } })
  t.equal(
    (await admin('PATCH', `${CLAIMS}/a/status`, {
      status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] }
    })).code,
    200,
    'what was granted stays'
  )
})

t.test('parts of the status need permissions of their own', async t => {
  const account = 'system:serviceaccount:default:driver'
  const server = await withRoles()
  const status = { resources: ['resourceclaims/status'], verbs: ['update', 'patch'] }
  await grant(server, 'writer', [status])
  await grant(server, 'binder', [status, { resources: ['resourceclaims/binding'], verbs: ['patch'] }])
  await grant(server, 'driver', [
    status,
    { resources: ['resourceclaims/driver'], verbs: ['arbitrary-node:patch'], resourceNames: ['gpu.example.com'] }
  ])
  await grant(server, account, [
    status,
    { resources: ['resourceclaims/driver'], verbs: ['associated-node:patch'], resourceNames: ['gpu.example.com'] }
  ])
  const admin = as(server)
  const local = as(server, account, { 'impersonate-extra-authentication.orch.io%2fnode-name': 'n1' })
  const write = async (user: string, value: Json) =>
    await (user === 'local' ? local : as(server, user))('PATCH', `${CLAIMS}/a/status`, { status: value })
  const nodeSelector = (name: string): Json => ({
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }]
  })
  const named = { driver: 'gpu.example.com', pool: 'n1', device: 'd' }
  const allocation = (name: string): Json => ({
    devices: { results: [{ request: 'gpu', ...named }] }, nodeSelector: nodeSelector(name)
  })
  await admin('POST', CLAIMS, asked({}))
  t.same(causes(await write('writer', { allocation: allocation('n1') })), ['status.allocation: Forbidden'])
  t.equal((await write('binder', { allocation: allocation('n1') })).code, 200)
  t.equal((await write('writer', {})).code, 200, 'what changes nothing needs nothing')
  t.same(
    causes(await write('writer', { allocation: allocation('n2') })),
    ['status.allocation: Forbidden', 'status.allocation: Invalid'], 'with what the type refuses'
  )
  const devices = (a: number): Json => ({ devices: [{ ...named, data: { a } }] })
  t.same(causes(await write('binder', devices(1))), ['status.devices: Forbidden'])
  t.equal((await write('driver', devices(1))).code, 200)
  t.equal((await write('local', devices(2))).code, 200, 'it runs on the node')
  const torn = as(
    server, account,
    {
      'impersonate-extra-authentication.orch.io%2fnode-name': 'n1',
      'impersonate-extra-authentication%2eorch.io%2fnode-name': 'n2'
    }
  )
  t.same(
    causes(await torn('PATCH', `${CLAIMS}/a/status`, { status: devices(4) })), ['status.devices: Forbidden'],
    'of two nodes is of none'
  )
  t.same(
    causes(await as(server, 'binder')('PUT', `${CLAIMS}/a/status`, {
      ...(await admin('GET', `${CLAIMS}/a`)).json, status: { allocation: null }
    })),
    ['status.allocation: Forbidden'],
    'another verb'
  )
  t.equal((await write('binder', { allocation: null })).code, 200)
  t.equal((await write('binder', { allocation: allocation('n2') })).code, 200)
  t.same(causes(await write('local', devices(3))), ['status.devices: Forbidden'], 'of another node')
})

t.test('quotas count claims and the devices that they may get', async t => {
  const server = await later()
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  const [count, gpus] = ['count/resourceclaims.resource.orch.io', 'gpu.deviceclass.resource.orch.io/devices']
  t.equal(
    (await server.post(quotas, { metadata: { name: 'q' }, spec: { hard: { [count]: '3', [gpus]: '40' } } })).code, 201
  )
  const used = async (): Promise<Json> => (await server.get(`${quotas}/q`)).json['status'].used ?? {}
  await polled(async () => (await used())[count] !== undefined)
  t.equal((await server.post(CLAIMS, asked({ allocationMode: 'All' }))).code, 201)
  t.same(await used(), { [count]: '1', [gpus]: '32' })
  const alternatives = {
    requests: [
      {
        name: 'any',
        firstAvailable: [
          { name: 'a', deviceClassName: 'gpu', count: 2 },
          { name: 'b', deviceClassName: 'gpu', count: 5 },
          { name: 'c', deviceClassName: 'cpu', count: 50 }
        ]
      }
    ]
  }
  t.equal((await server.post(CLAIMS, claim(alternatives, 'b'))).code, 201)
  t.same(await used(), { [count]: '2', [gpus]: '37' })
  t.match(await server.post(CLAIMS, { ...asked({ count: 4 }), metadata: { name: 'c' } }), {
    code: 403,
    json: {
      message: /exceeded quota: q, requested: gpu.deviceclass.resource.orch.io\/devices=4, used: .*=37, limited: .*=40/
    }
  })
  t.equal((await server.post(CLAIMS, { ...asked({ count: 3 }), metadata: { name: 'c' } })).code, 201)
})

t.test('quotas count devices by the extended resources of their classes, once', async t => {
  const server = await later()
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  const pods = '/api/v1/namespaces/default/pods'
  const [own, named] = ['requests.deviceclass.resource.orch.io/gpu', 'requests.example.com/gpu']
  await server.post(CLASSES, { metadata: { name: 'gpu' }, spec: { extendedResourceName: 'example.com/gpu' } })
  await server.post(quotas, { metadata: { name: 'q' }, spec: { hard: { [own]: '10', [named]: '10' } } })
  const used = async (): Promise<Json> => (await server.get(`${quotas}/q`)).json['status'].used ?? {}
  await polled(async () => (await used())[named] !== undefined)
  t.equal((await server.post(CLAIMS, asked({ count: 3 }))).code, 201)
  t.same(await used(), { [own]: '3', [named]: '3' })
  const limits = { 'example.com/gpu': '4', 'deviceclass.resource.orch.io/gpu': '1' }
  const pod = await server.post(
    pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }] } }
  )
  t.same([pod.code, await used()], [201, { [own]: '4', [named]: '7' }])
  const made = (name: string, uid: unknown): Json => ({
    ...asked({ count: 4 }), metadata: {
      name, annotations: { 'resource.orch.io/extended-resource-claim': 'true' },
      ownerReferences: [{ kind: 'Pod', apiVersion: 'v1', name: 'p', uid, controller: true }]
    }
  })
  t.match(await server.post(CLAIMS, made('b', 'another')), { code: 403, json: { message: /exceeded quota: q/ } })
  t.equal((await server.post(CLAIMS, made('b', pod.json['metadata'].uid))).code, 201)
  t.same(await used(), { [own]: '4', [named]: '7' }, 'the pod has paid')
  await server.delete(`${CLAIMS}/a`)
  for (let now = await used(); now[named] !== '4' || now[own] !== '1'; now = await used()) {
    await new Promise(resolve => { setImmediate(resolve) })
  }
  t.pass('the controller counts both')
})

t.test('a node agent has the claims of its pods and the slices of its node', async t => {
  const tokens = 'root,root,1,system:masters\nn1,system:node:n1,2,system:nodes\nn2,system:node:n2,3,system:nodes\n'
  const server = await build(t, {
    emulatedVersion: '1.36',
    authentication: { tokens },
    authorization: { modes: ['Node', 'RBAC'] },
    admission: { enabled: ['NodeRestriction'] }
  })
  const call = async (token: string, method: string, url: string, body?: unknown) => await server.call(
    method,
    url,
    body,
    {
      authorization: `Bearer ${token}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    }
  )
  for (const name of ['used', 'made', 'other']) {
    t.equal((await call('root', 'POST', CLAIMS, { ...asked({}), metadata: { name } })).code, 201)
  }
  await call('root', 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const pods = '/api/v1/namespaces/default/pods'
  const resourceClaims = [{ name: 'a', resourceClaimName: 'used' }, { name: 'b', resourceClaimTemplateName: 't' }]
  const pod = await call('root', 'POST', pods, {
    metadata: { name: 'p' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], resourceClaims }
  })
  t.equal(pod.code, 201, JSON.stringify(pod.json))
  t.equal(
    (await call('root', 'PATCH', `${pods}/p/status`, {
      status: { resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'made' }] }
    })).code,
    200
  )
  for (const [token, name, code] of [
    ['n1', 'used', 200], ['n1', 'made', 200], ['n1', 'other', 403], ['n2', 'used', 403]
  ] as const) {
    t.equal((await call(token, 'GET', `${CLAIMS}/${name}`)).code, code, `${token} ${name}`)
  }
  t.equal((await call('n1', 'GET', CLAIMS)).code, 403)
  t.equal((await call('n1', 'POST', SLICES, slice({}))).code, 201)
  t.equal((await call('n2', 'POST', SLICES, slice({}, 'other'))).code, 403, 'of another node')
  for (const [token, method, url, code] of [
    ['n1', 'GET', `${SLICES}/s`, 200], ['n2', 'GET', `${SLICES}/s`, 403], ['n1', 'GET', SLICES, 403],
    ['n1', 'GET', `${SLICES}?fieldSelector=spec.nodeName%3Dn1`, 200],
    ['n2', 'GET', `${SLICES}?fieldSelector=spec.nodeName%3Dn1`, 403], ['n2', 'DELETE', `${SLICES}/s`, 403],
    ['n1', 'DELETE', `${SLICES}/s`, 200]
  ] as const) t.equal((await call(token, method, url)).code, code, `${token} ${method} ${url}`)
})

t.test('rules that taint devices are there where the gate and a version are on', async t => {
  const api = {
    disabled: disabledApis(
      new Map([['resource.orch.io/v1beta2', 'true'], ['resource.orch.io/v1alpha3', 'true']]), undefined
    )
  }
  const url = `${GROUP}/v1beta2/devicetaintrules`
  t.equal((await (await build(t, { emulatedVersion: '1.36', api })).get(url)).code, 404)
  const server = await build(t, { emulatedVersion: '1.36', api, featureGates: { DRADeviceTaintRules: true } })
  const rule = (spec: Json, name = 'a'): Json => ({ metadata: { name }, spec })
  t.match((await server.post(url, rule({ taint: { key: 'a', effect: 'None' } }))).json, {
    metadata: { generation: 1 }, spec: { taint: { timeAdded: /Z$/ } }
  })
  t.same(causes(await server.post(
    url, rule({ deviceSelector: { driver: '', pool: 'A', device: 'B' }, taint: { key: '', effect: '' } }, 'b')
  )),
  [
    'spec.deviceSelector.driver: Required', 'spec.deviceSelector.pool: Invalid',
    'spec.deviceSelector.device: Invalid', 'spec.taint.key: Invalid', 'spec.taint.key: Invalid',
    'spec.taint.effect: Required'
  ])
  const old = await server.get(`${GROUP}/v1alpha3/devicetaintrules/a`)
  t.match(old.headers['warning'], [
    /v1alpha3 DeviceTaintRule is deprecated in v1.36\+, unavailable in v1.39\+; use resource.orch.io\/v1beta2 DeviceTaintRule/
  ])
  t.match((await server.get(`${url}/a`, { accept: TABLE })).json['rows'][0].cells.slice(0, 4), ['a', 'a', '', 'None'])
  const conditions = many(9, index => ({
    type: `T${index}`, status: 'True', reason: 'Why', message: '', lastTransitionTime: '2026-01-01T00:00:00Z'
  }))
  t.same(causes(await server.patch(`${url}/a/status`, { status: { conditions } })), ['status.conditions: TooMany'])
  t.equal((await server.patch(`${url}/a/status`, { status: { conditions: conditions.slice(1) } })).code, 200)
})

t.test('drivers apply the state of their devices, each its own', async t => {
  const server = await later()
  await server.post(CLAIMS, asked({}))
  const results = ['d', 'e'].map(device => ({ request: 'gpu', driver: 'x', pool: 'p', device }))
  await server.patch(`${CLAIMS}/a/status`, { status: { allocation: { devices: { results } } } })
  const apply = async (manager: string, devices: Json[]) =>
    await server.patch(`${CLAIMS}/a/status?fieldManager=${manager}`,
      { apiVersion: 'resource.orch.io/v1', kind: 'ResourceClaim', metadata: { name: 'a' }, status: { devices } },
      'application/apply-patch+yaml')
  const state = (device: string, a: number): Json => ({ driver: 'x', pool: 'p', device, data: { a } })
  for (const [manager, device, a] of [['one', 'd', 1], ['two', 'e', 2], ['one', 'd', 3]] as const) {
    t.equal((await apply(manager, [state(device, a)])).code, 200)
  }
  const { status, metadata } = (await server.get(`${CLAIMS}/a`)).json
  t.match(status.devices, [state('d', 3), state('e', 2)])
  t.match(
    metadata['managedFields'].find(({ manager }: Json) => manager === 'two').fieldsV1['f:status']['f:devices'],
    { 'k:{"device":"e","driver":"x","pool":"p"}': {} }, 'a key that is unset is no part of the name'
  )
  t.equal((await apply('one', [])).code, 200)
  t.match((await server.get(`${CLAIMS}/a`)).json['status'].devices, [state('e', 2)])
})
