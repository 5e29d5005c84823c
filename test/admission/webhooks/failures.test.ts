/**
 * Hooks that do not answer properly: the request fails with a clear error or continues, as their failurePolicy says.
 */
import t from 'tap'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { build, type Json, type Client } from '../../build.js'
import {
  allow, hookServer, configure, VALIDATING, patching, webhook, MUTATING, CONFIGS, ON_CONFIGS, deny, type HookServer,
  type Answer
} from './hook-server.js'

const GIGABYTE = 2 ** 30
let made = 0
const create = async (server: Client, more: Json = {}): Promise<{ code: number, json: Json }> =>
  await server.post(CONFIGS, { metadata: { name: `c-${++made}`, ...more } })

/** The answer of a hook, and the resulting message. */
const BAD: ReadonlyArray<readonly [string, Answer, RegExp]> = [
  [
    'dies without a word',
    (_review, reply) => { reply.destroy(); return undefined },
    /failed to call webhook: Post "https:\/\/127\.0\.0\.1:\d+\/hook\?timeout=10s": connection (?:closed|reset) by the peer$/
  ],
  [
    'dies in the middle of its answer',
    (_review, reply) => {
      reply.writeHead(200, { 'content-length': 100 })
      reply.write('{"kind":', () => { reply.destroy() })
      return undefined
    },
    /failed to call webhook: Post "/
  ],
  ['sends more than there is room for', (_review, reply) => {
    reply.writeHead(200, { 'content-length': GIGABYTE })
    const chunk = Buffer.alloc(2 ** 20, ' ')
    const more = (): void => { while (!reply.destroyed && reply.write(chunk)); }
    reply.on('drain', more)
    more()
    return undefined
  }, /the answer has more than \d+ bytes$/],
  ['sends without end', (_review, reply) => {
    const chunk = Buffer.alloc(2 ** 20, ' ')
    const more = (): void => { while (!reply.destroyed && reply.write(chunk)); }
    reply.on('drain', more)
    more()
    return undefined
  }, /the answer has more than \d+ bytes$/],
  [
    'redirects',
    (_review, reply) => { reply.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(); return undefined },
    /failed to call webhook: the server responded with the status code 307/
  ],
  [
    'fails',
    (_review, reply) => {
      reply.writeHead(500, { 'content-type': 'text/plain' }).end('out of memory\n')
      return undefined
    },
    /failed to call webhook: an error on the server \("out of memory"\) has prevented the request from succeeding$/
  ],
  [
    'is not found', (_review, reply) => { reply.writeHead(404).end(); return undefined },
    /failed to call webhook: the server could not find the requested resource$/
  ],
  [
    'fails with a Status',
    (_review, reply) => { reply.writeHead(503).end('{"kind":"Status","message":"not now"}'); return undefined },
    /failed to call webhook: not now$/
  ],
  [
    'answers with a status there cannot be',
    (_review, reply) => { reply.socket?.end('HTTP/1.1 000 Nothing\r\n\r\n'); return undefined },
    /the answer is not valid HTTP$/
  ],
  [
    'answers no JSON', (_review, reply) => { reply.end('ok'); return undefined },
    /failed to call webhook: couldn't get version\/kind; json parse error/
  ],
  [
    'answers a list', (_review, reply) => { reply.end('[]'); return undefined },
    /json parse error: it is not an object$/
  ],
  [
    'answers nothing of the kind', (_review, reply) => { reply.end('{}'); return undefined },
    /received invalid webhook response: webhook response was absent$/
  ],
  [
    'answers without saying what',
    ({ request }, reply) => {
      reply.end(JSON.stringify({ response: { uid: request.uid, allowed: true } }))
      return undefined
    },
    /expected an AdmissionReview of admission\.orch\.io\/v1, got "" of ""$/
  ],
  [
    'answers in another version',
    (review, reply) => {
      reply.end(JSON.stringify({
        kind: 'AdmissionReview',
        apiVersion: 'admission.orch.io/v1beta1',
        response: { uid: review.request.uid, allowed: true }
      }))
      return undefined
    },
    /expected an AdmissionReview of admission\.orch\.io\/v1, got one of admission\.orch\.io\/v1beta1$/
  ],
  [
    'answers another question', () => ({ uid: 'other', allowed: true }),
    /received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"$/
  ],
  [
    'answers with the wrong types', () => ({ allowed: 'yes' }),
    /response\.allowed: expected (?:true or false|a boolean)/
  ]
]

t.test('an invalid response of a webhook fails the request, or is ignored, by its failurePolicy', async t => {
  const [fail, ignore] = [await hookServer(t), await hookServer(t)]
  const server = await build(t)
  for (const path of [VALIDATING, MUTATING]) {
    await configure(server, path, 'fail', webhook('fail', fail, { objectSelector: { matchLabels: { to: 'fail' } } }))
    await configure(
      server, path, 'ignore',
      webhook('ignore', ignore, { failurePolicy: 'Ignore', objectSelector: { matchLabels: { to: 'ignore' } } })
    )
  }
  for (const [what, answer, words] of BAD) {
    for (const hook of [fail, ignore]) hook.answer = answer
    const { code, json } = await create(server, { labels: { to: 'fail' } })
    t.match(
      { code, json },
      { code: 500, json: { reason: 'InternalError', message: words, details: { causes: [{ message: words }] } } }, what
    )
    t.match(json.message, /^Internal error occurred: failed calling webhook "fail\.example\.com": /)
    t.equal((await create(server, { labels: { to: 'ignore' } })).code, 201, `${what}, ignored`)
  }
  t.same((await server.get(CONFIGS)).json.items.filter((one: Json) => one.metadata.labels?.to === 'fail'), [])
})

/** Patches, with the code and message of the response. */
const PATCHES: ReadonlyArray<readonly [string, unknown, number, RegExp]> = [
  [
    'outside of the object',
    [{ op: 'add', path: '/nothing/here/x', value: 1 }],
    500,
    /^Internal error occurred: the patch of admission webhook "a\.example\.com" cannot be followed: the JSON patch does not fit the object/
  ],
  [
    'of no operation there is', [{ op: 'explode', path: '/data' }], 500,
    /^Internal error occurred: the patch of admission webhook "a\.example\.com" cannot be followed: the JSON patch does not fit the object: operation 0/
  ],
  [
    'of the wrong type', [{ op: 'add', path: '/data', value: { a: 1 } }], 500,
    /^Internal error occurred: the patch of admission webhook "a\.example\.com" cannot be followed: .*data\.a/
  ],
  [
    'to another kind',
    [{ op: 'replace', path: '/kind', value: 'Secret' }],
    500,
    /^Internal error occurred: the patch of admission webhook "a\.example\.com" cannot be followed: kind: expected "ConfigMap"/
  ],
  [
    'to something that is no object', [{ op: 'replace', path: '', value: [] }], 500,
    /^Internal error occurred: the patch of admission webhook "a\.example\.com" cannot be followed: /
  ],
  [
    'that is no patch', { op: 'add' }, 500,
    /failed calling webhook .*received undecodable patch in webhook response: it is no list/
  ],
  [
    'that moves it to another namespace', [{ op: 'replace', path: '/metadata/namespace', value: 'orch-system' }], 400,
    /namespace/
  ]
]

t.test('an invalid patch fails the request and writes nothing', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await configure(server, MUTATING, 'a', webhook('a', hook))
  for (const [what, patch, status, words] of PATCHES) {
    hook.answer = () => ({
      allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64')
    })
    const { code, json } = await create(server)
    t.match({ code, json }, { code: status, json: { message: words } }, what)
  }
  for (const [what, response, words] of [
    ['a patch without its type', { patch: 'W10=' }, /webhook returned response\.patch but not response\.patchType/],
    [
      'a type without a patch', { patchType: 'JSONPatch' },
      /webhook returned response\.patchType but not response\.patch/
    ],
    [
      'a type that is unknown',
      { patchType: 'MergePatch', patch: Buffer.from('[{"op":"remove","path":"/data"}]').toString('base64') },
      /unsupported patch type "MergePatch"/
    ]
  ] as const) {
    hook.answer = () => ({ allowed: true, ...response })
    t.match(await create(server), { code: 500, json: { message: words } }, what)
  }
  t.equal((await server.get(CONFIGS)).json.items.length, 0)
  await server.delete(`${MUTATING}/a`)
  await configure(server, MUTATING, 'a', webhook('a', hook, { failurePolicy: 'Ignore' }))
  hook.answer = () => ({ allowed: false, patchType: 'MergePatch', patch: 'W10=' })
  t.match(
    await create(server),
    { code: 400, json: { message: 'admission webhook "a.example.com" denied the request without explanation' } },
    'a refusal is one, whatever comes with it'
  )
  await server.delete(`${MUTATING}/a`)
  await configure(server, VALIDATING, 'b', webhook('b', hook))
  hook.answer = () => ({ allowed: true, patch: 'W10=' })
  t.match(await create(server), { code: 500, json: { message: /validating webhook may not return response\.patch$/ } })
})

t.test('patches cannot change fields the server sets, and prototype names in them are plain data', async t => {
  const hook = await hookServer(
    t,
    patching(
      { op: 'add', path: '/metadata/uid', value: 'mine' },
      { op: 'add', path: '/metadata/creationTimestamp', value: '2001-01-01T00:00:00Z' },
      { op: 'add', path: '/data', value: {} }, { op: 'add', path: '/data/__proto__', value: 'text' },
      { op: 'add', path: '/__proto__', value: { polluted: true } },
      { op: 'add', path: '/constructor', value: { prototype: {} } }
    )
  )
  const server = await build(t)
  await configure(
    server, MUTATING, 'a', webhook('a', hook, { rules: [{ ...ON_CONFIGS, operations: ['CREATE', 'UPDATE'] }] })
  )
  const { code, body, json } = await server.post(CONFIGS, { metadata: { name: 'p' } })
  t.equal(code, 201)
  t.equal(Object.getOwnPropertyDescriptor(json.data, '__proto__')?.value, 'text', 'a key like any other')
  t.notOk(body.includes('polluted'))
  t.notOk('polluted' in {})
  hook.answer = patching(
    { op: 'add', path: '/metadata/uid', value: 'mine' },
    { op: 'add', path: '/metadata/creationTimestamp', value: '2001-01-01T00:00:00Z' }
  )
  const made = await server.post(CONFIGS, { metadata: { name: 'c' } })
  t.match(made, { code: 201, json: { metadata: { uid: /^[0-9a-f-]{36}$/ } } })
  t.not(made.json.metadata.creationTimestamp, '2001-01-01T00:00:00Z')
  hook.answer = patching({ op: 'replace', path: '/metadata/uid', value: 'mine' })
  t.match(await server.patch(`${CONFIGS}/c`, { data: { a: 'b' } }), {
    code: 422, json: { details: { causes: [{ field: 'metadata.uid' }] } }
  })
  hook.answer = patching({ op: 'replace', path: '/metadata/name', value: 'other' })
  t.match(await server.patch(`${CONFIGS}/c`, { data: { a: 'b' } }), {
    code: 422, json: { details: { causes: [{ field: 'metadata.name' }] } }
  })
})

t.test('a webhook cannot rename an object that the URL names', async t => {
  const hook = await hookServer(t, patching({ op: 'replace', path: '/metadata/name', value: 'other' }))
  const server = await build(t)
  const leases = '/apis/coordination.orch.io/v1/namespaces/default/leases'
  await configure(server, MUTATING, 'a', webhook('a', hook, {
    rules: [ON_CONFIGS, { ...ON_CONFIGS, apiGroups: ['coordination.orch.io'], resources: ['leases'] }]
  }))
  for (const [what, made] of [
    ['PUT', await server.put(`${leases}/mine`, { metadata: { name: 'mine' }, spec: {} })],
    [
      'apply',
      await server.patch(
        `${CONFIGS}/mine?fieldManager=me`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } },
        'application/apply-patch+yaml'
      )
    ]
  ] as const) {
    const message = 'the name of the object (other) does not match the name on the URL (mine)'
    t.match(made, { code: 400, json: { message } }, what)
  }
  t.equal(hook.asked.length, 2, 'the webhook is called once for each')
  for (const path of [leases, CONFIGS]) t.same((await server.get(path)).json.items, [])
  t.match(
    await server.post(CONFIGS, { metadata: { name: 'mine' } }), { code: 201, json: { metadata: { name: 'other' } } },
    'a new object may be given another name'
  )
})

t.test('webhooks are asked about the name that was sent, whatever another calls the object', async t => {
  const [hook, other] = [
    await hookServer(t, patching({ op: 'replace', path: '/metadata/name', value: 'other' })), await hookServer(t)
  ]
  const server = await build(t)
  await configure(server, MUTATING, 'a', webhook('a', hook))
  await configure(server, VALIDATING, 'b', webhook('b', other))
  const asked = (): Json[] => other.asked.splice(0).map(({ request: { name, object } }) => [name, object.metadata.name])
  t.match(await server.post(CONFIGS, { metadata: { name: 'mine' } }), {
    code: 201, json: { metadata: { name: 'other' } }
  })
  t.same(asked(), [['mine', 'other']])
  hook.answer = allow
  const { json: { metadata: { name } } } = await server.post(CONFIGS, { metadata: { generateName: 'any-' } })
  t.same(asked(), [[name, name]])
})

t.test('a webhook that hangs is called until its timeout', async t => {
  const hook = await hookServer(t, () => undefined)
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook, { timeoutSeconds: 1 }))
  t.match(await create(server), {
    code: 500, json: { message: /Post "https:\/\/127\.0\.0\.1:\d+\/hook\?timeout=1s": the deadline has passed$/ }
  })
  await server.put(`${VALIDATING}/a`, {
    ...(await server.get(`${VALIDATING}/a`)).json,
    webhooks: [webhook('a', hook, { timeoutSeconds: 1, failurePolicy: 'Ignore' })]
  })
  t.equal((await create(server)).code, 201)
})

t.test('a request that ends before its webhook answers is a timeout, and the call is aborted', async t => {
  const hook = await hookServer(t, () => undefined)
  const server = await build(t, { limits: { requestTimeout: 4000 } })
  await configure(server, VALIDATING, 'a', webhook('a', hook, { timeoutSeconds: 30 }))
  t.match(await create(server), { code: 504 })
})

t.test('connection and trust failures are named in the message', async t => {
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  gone.close()
  await once(gone, 'close')
  const hook = await hookServer(t)
  const server = await build(t)
  const refused = async (target: Pick<HookServer, 'url'>, clientConfig: Json): Promise<string> => {
    await configure(server, VALIDATING, 'a', webhook('a', target, { clientConfig }))
    const { json } = await create(server)
    await server.delete(`${VALIDATING}/a`)
    return String(json.message)
  }
  t.match(
    await refused(hook, { url: `https://127.0.0.1:${port}/` }),
    new RegExp(`Post "https://127\\.0\\.0\\.1:${port}/\\?timeout=10s": connection refused$`)
  )
  t.match(await refused(hook, { url: hook.url }), /its certificate is signed by /)
  t.match(
    await refused(hook, {
      url: hook.url,
      caBundle: Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString('base64')
    }),
    /failed calling webhook "a\.example\.com": failed to call webhook: /
  )
  t.same(hook.asked, [])
})

t.test('webhooks whose writes trigger each other end, and the server survives', async t => {
  const [one, other] = [await hookServer(t), await hookServer(t)]
  const server = await build(t, { limits: { maxMutatingRequestsInflight: 20 } })
  const writes = (label: string): Answer => async () => ({
    allowed: (await create(server, { labels: { to: label } })).code === 201
  })
  one.answer = writes('other')
  other.answer = writes('one')
  for (const [name, hook] of Object.entries({ one, other })) {
    await configure(
      server, VALIDATING, name,
      webhook(name, hook, { objectSelector: { matchLabels: { to: name } }, timeoutSeconds: 30 })
    )
  }
  const { code } = await create(server, { labels: { to: 'one' } })
  t.equal(code, 400)
  t.ok(one.asked.length > 1 && one.asked.length + other.asked.length <= 20)
  t.equal((await create(server)).code, 201)
  t.equal((await server.get(CONFIGS)).json.items.length, 1)
})

t.test('webhooks are never called for admission policies', async t => {
  const hook = await hookServer(t, deny())
  const server = await build(t, { emulatedVersion: '1.36' })
  await configure(
    server, VALIDATING, 'a',
    webhook('a', hook, { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] })
  )
  t.match(await create(server), { code: 400 })
  const matchConstraints = {
    resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }]
  }
  for (const [resource, spec] of [
    ['validatingadmissionpolicies', { matchConstraints, validations: [{ expression: 'true' }] }],
    ['validatingadmissionpolicybindings', { policyName: 'x', validationActions: ['Deny'] }],
    [
      'mutatingadmissionpolicies',
      {
        matchConstraints, reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }]
      }
    ],
    ['mutatingadmissionpolicybindings', { policyName: 'x' }]
  ] as const) {
    const url = `/apis/admissionregistration.orch.io/v1/${resource}`
    const made = await server.post(url, { metadata: { name: 'x' }, spec })
    t.equal(made.code, 201, made.body)
    t.equal((await server.delete(`${url}/x`)).code, 200, resource)
  }
})

t.test('webhooks are never called for webhook configurations', async t => {
  const hook = await hookServer(t, deny())
  const server = await build(t)
  const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }
  await configure(server, VALIDATING, 'a', webhook('a', hook, { rules: [everything] }))
  await configure(server, MUTATING, 'b', webhook('b', hook, { rules: [everything] }))
  t.match(await create(server), { code: 400 })
  t.equal((await server.patch(`${VALIDATING}/a`, { metadata: { labels: { a: 'b' } } })).code, 200)
  for (const path of [`${VALIDATING}/a`, `${MUTATING}/b`]) t.equal((await server.delete(path)).code, 200)
  const groups = hook.asked.map(({ request }) => request.resource.group) // of writes of the server too
  t.ok(groups.includes(''))
  t.notOk(groups.includes('admissionregistration.orch.io'))
  hook.answer = allow
  t.equal((await create(server)).code, 201)
})
