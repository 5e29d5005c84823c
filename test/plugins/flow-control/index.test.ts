/** Priority and fairness through whole servers. */
import t from 'tap'
import { request as httpRequest } from 'node:http'
import { build, listen, Watch, type Answer, type Client, type Json, type Listening, type Test } from '../../build.js'
import type { Authorizer, ServerOptions } from '../../../app.js'
import { columns } from '../../../plugins/shared/debug-table.js'
import { receiver } from '../../otlp-receiver.js'
import { until } from '../../serving/bare-listener.js'

const GROUP = '/apis/flowcontrol.apiserver.orch.io/v1beta2'
const CONFIGS = '/api/v1/namespaces/default/configmaps'
const LATER = CONFIGS.replace('default', 'later')
const as = (user: string): Record<string, string> => ({
  'impersonate-user': user, 'impersonate-group': 'system:authenticated'
})
const MASTER = { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' }
const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

/** Holds requests about objects called held, until the test releases one of them, or all. */
function gate () {
  const waiting: Array<{ user: string, go: () => void }> = []
  const authorizer: Authorizer = {
    name: 'gate',
    authorize: ({ info, user }) => info.name !== 'held'
      ? { decision: 'Allow' }
      : new Promise(resolve => { waiting.push({ user: user.username, go: () => { resolve({ decision: 'Allow' }) } }) })
  }
  return { authorizer, waiting, arrived: async (count: number) => { while (waiting.length < count) await turn() } }
}

const level = (name: string, assuredConcurrencyShares: number, queues: number, queueLengthLimit = 50): Json =>
  ({
    metadata: { name },
    spec: {
      type: 'Limited',
      limited: {
        assuredConcurrencyShares, limitResponse: { type: 'Queue', queuing: { queues, handSize: 1, queueLengthLimit } }
      }
    }
  })
const schema = (name: string, to: string, users: string[], more: Json = {}): Json => ({
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: to },
    matchingPrecedence: 50,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: users.map(user => ({ kind: 'User', user: { name: user } })),
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }]
      }
    ],
    ...more
  }
})

/** A level of few seats for a few users: the total is so large that a share of one is two seats. */
async function narrow (t: Test, options: { queues?: number, length?: number, server?: ServerOptions } = {}) {
  const held = gate()
  const server = await build(t, {
    ...options.server,
    limits: {
      priorityAndFairness: true, maxRequestsInflight: 300, maxMutatingRequestsInflight: 192, ...options.server?.limits
    },
    authorization: { authorizers: [held.authorizer] }
  })
  // 245 shares and one of its own: 2 of 492 seats
  const made = [
    await server.post(
      `${GROUP}/prioritylevelconfigurations`, level('narrow', 1, options.queues ?? 64, options.length), MASTER
    ),
    await server.post(`${GROUP}/flowschemas`, schema('narrow', 'narrow', ['elephant', 'mouse']), MASTER)
  ]
  if (made.some(({ code }) => code !== 201)) throw new Error(made.map(({ body }) => body).join())
  t.teardown(() => { for (const { go } of held.waiting.splice(0)) go() })
  return { server, ...held, uids: made.map(({ json }) => json['metadata'].uid as string) }
}

const metric = async (server: Client, line: RegExp): Promise<number> =>
  Number(line.exec((await server.get('/metrics', MASTER)).body)?.[1] ?? NaN)

/** Resolves when that many requests wait in the narrow level. */
async function queued (server: Client, count: number): Promise<void> {
  const waiting = (): Promise<number> => metric(
    server, /^apiserver_flowcontrol_current_inqueue_requests\{priority_level="narrow",flow_schema="narrow"\} (\d+)$/m
  )
  await until(`${count} to wait`, async () => await waiting() === count)
}

const inUse = (server: Client): Promise<number> => metric(
  server, /^apiserver_flowcontrol_request_concurrency_in_use\{priority_level="narrow",flow_schema="narrow"\} (\d+)$/m
)

t.test('answers say by which schema and level they were served, as uids', async t => {
  const server = await build(t, { limits: { priorityAndFairness: true } })
  const uid = async (of: string, name: string): Promise<string> =>
    (await server.get(`${GROUP}/${of}/${name}`, MASTER)).json['metadata'].uid
  const cases = [
    [as('alice'), CONFIGS, 'global-default', 'global-default'],
    [as('alice'), '/nowhere', 'global-default', 'global-default'],
    [MASTER, CONFIGS, 'exempt', 'exempt'],
    [{}, '/readyz', 'probes', 'exempt'],
    [{ 'impersonate-user': 'system:orch-scheduler' }, '/api/v1/pods', 'orch-scheduler', 'workload-high']
  ] as const
  for (const [headers, path, flow, to] of cases) {
    t.match(
      (await server.get(path, headers)).headers,
      {
        'x-orch-pf-flowschema-uid': await uid('flowschemas', flow),
        'x-orch-pf-prioritylevel-uid': await uid('prioritylevelconfigurations', to)
      },
      `${path} ${flow}`
    )
  }
  const plain = await build(t, {})
  t.notOk('x-orch-pf-flowschema-uid' in (await plain.get(CONFIGS)).headers, 'plain limits say nothing')
})

t.test('its hooks are conditions of readiness', async t => {
  const server = await build(t, { limits: { priorityAndFairness: true } })
  const { body } = await server.get('/readyz?verbose')
  for (const hook of [
    'priority-and-fairness-config-consumer', 'priority-and-fairness-config-producer', 'priority-and-fairness-filter'
  ]) {
    t.match(body, `[+]poststarthook/${hook} ok`)
  }
})

t.test('beside an elephant of 500 requests that wait for two seats, a mouse is served when its turn comes', async t => {
  const { server, waiting, arrived } = await narrow(t, { length: 600 })
  const answers: Array<Promise<Answer>> = []
  for (let index = 0; index < 500; index++) answers.push(server.get(`${CONFIGS}/held`, as('elephant')))
  await arrived(2)
  await queued(server, 498)
  for (let index = 0; index < 10; index++) answers.push(server.get(`${CONFIGS}/held`, as('mouse')))
  await queued(server, 508)
  t.equal(waiting.length, 2, 'no more than there are seats')
  t.equal((await server.get(CONFIGS, as('bob'))).code, 200, 'others do not wait')
  const order: string[] = []
  for (let index = 0; index < 510; index++) {
    await arrived(1)
    const one = waiting.shift()
    order.push(one?.user ?? '')
    one?.go()
  }
  t.ok((await Promise.all(answers)).every(({ code }) => code === 404))
  // The elephant is charged for the previous requests when they end, so two of its requests go first, and those that
  // got seats meanwhile.
  t.ok(order.indexOf('mouse') < 6, `the mouse was number ${order.indexOf('mouse')}`)
  t.equal(await inUse(server), 0)
})

t.test('a request that no queue accepts is refused and counted separately', async t => {
  const { server, waiting, arrived, uids: [to, flow] } = await narrow(t, { queues: 1, length: 3 })
  const ask = (count: number): Array<Promise<Answer>> =>
    Array.from({ length: count }, () => server.get(`${CONFIGS}/held`, as('elephant')))
  const answers = ask(2)
  // first, because in a turn that has lasted long enough all five would queue, and there is room for three
  await arrived(2)
  answers.push(...ask(3))
  await queued(server, 3)
  const refused = await server.get(CONFIGS, as('mouse'))
  t.match(refused, {
    code: 429,
    json: {
      kind: 'Status',
      status: 'Failure',
      reason: 'TooManyRequests',
      message:
        'too many requests, please try again later: flow schema narrow, priority level narrow: the queue of this ' +
        'flow has 3 requests; raise assuredConcurrencyShares, which give it 2 seats now, or queueLengthLimit',
      details: { retryAfterSeconds: 1 }
    }
  })
  t.match(refused.headers, { 'retry-after': '1', 'x-orch-pf-flowschema-uid': flow, 'x-orch-pf-prioritylevel-uid': to })
  t.equal(
    await metric(
      server,
      /^apiserver_flowcontrol_rejected_requests_total\{priority_level="narrow",flow_schema="narrow",reason="queue-full"\} (\d+)$/m
    ),
    1
  )
  t.equal(await metric(server, /^apiserver_dropped_requests_total\{request_kind="readOnly"\} (\d+)$/m), 1)
  t.equal((await server.get(CONFIGS, MASTER)).code, 200, 'administrators have none')
  t.equal((await server.get('/livez')).code, 200, 'nor have probes')
  for (let index = 0; index < 5; index++) {
    await arrived(1)
    waiting.shift()?.go()
  }
  t.ok((await Promise.all(answers)).every(({ code }) => code === 404))
})

t.test('the wait in a queue is a step in the trace of its request', async t => {
  const received = await receiver(t)
  const { server, waiting, arrived } = await narrow(t, {
    server: {
      tracing: { receiver: { endpoint: received.endpoint, samplingRatePerMillion: 1_000_000, timeout: 60_000 } }
    }
  })
  const answers = [1, 2].map(() => server.get(`${CONFIGS}/held`, as('elephant')))
  await arrived(2) // first, because in a turn that has lasted long enough they would queue too
  answers.push(server.get(`${LATER}/held`, as('elephant')))
  await queued(server, 1)
  for (let index = 0; index < 3; index++) {
    await arrived(1)
    waiting.shift()?.go()
  }
  await Promise.all(answers)
  await server.app.close()
  const steps = received.of('OrchAPI')
    .filter(({ attributes }) => attributes['http.target'] === `${LATER}/held`)
    .map(({ events = [] }) => events[0]?.name)
  t.strictSame(steps, ['Waiting in a queue of flow control done'])
})

t.test('administrators can dump levels, queues and waiting requests', async t => {
  const { server, waiting, arrived } = await narrow(t, { queues: 2 })
  const held = Array.from({ length: 3 }, () => server.get(`${CONFIGS}/held`, as('elephant')))
  await arrived(2)
  await queued(server, 1)
  const dump = async (what: string): Promise<string[]> =>
    (await server.get(`/debug/api_priority_and_fairness/dump_${what}`, MASTER)).body.trimEnd().split('\n')
  const [levels, queues, requests, details] = [
    await dump('priority_levels'), await dump('queues'), await dump('requests'),
    await dump('requests?includeRequestDetails=1')
  ]
  t.equal(levels[0], 'PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests')
  t.ok(
    levels.includes('exempt,            <none>,       <none>, <none>,      <none>,          <none>'), levels.join('\n')
  )
  t.ok(levels.includes('narrow,            1,            false,  false,       1,               2'), levels.join('\n'))
  t.equal(queues.filter(line => /^narrow, +[01], +/.test(line)).length, 2)
  t.equal(queues.filter(line => line.startsWith('workload-low,')).length, 128)
  t.equal(requests.length, 2)
  t.match(requests[1], /^narrow, +narrow, +[01], +0, +elephant, +20\d\d-[-0-9T:.]+Z, +1, +0, +0s$/)
  t.match(
    details[1],
    /0s, +elephant, +get, +\/api\/v1\/namespaces\/default\/configmaps\/held, +default, +held, +v1, +configmaps,\s*$/
  )
  for (let index = 0; index < 3; index++) {
    await arrived(1)
    waiting.shift()?.go()
  }
  await Promise.all(held)
})

t.test('a request that waits too long is refused', async t => {
  const alive = setInterval(() => {}, 1000) // the server's waits do not keep the process alive
  t.teardown(() => { clearInterval(alive) })
  const { server, waiting, arrived } = await narrow(t, { server: { limits: { requestTimeout: 8000 } } })
  const answers = Array.from({ length: 2 }, () => server.get(`${CONFIGS}/held`, as('elephant')))
  await arrived(2)
  t.equal(
    (await server.get(`${CONFIGS}/held`, as('elephant'))).code, 429,
    'after a quarter of the time that a request may take'
  )
  for (const { go } of waiting) go()
  t.ok((await Promise.all(answers)).every(({ code }) => code === 404))
  t.equal(
    await metric(
      server,
      /^apiserver_flowcontrol_rejected_requests_total\{priority_level="narrow",flow_schema="narrow",reason="time-out"\} (\d+)$/m
    ),
    1
  )
})

t.test('a change of a schema or level holds when it is acknowledged', async t => {
  const server = await build(t, { limits: { priorityAndFairness: true } })
  const flowOf = async (): Promise<unknown> =>
    (await server.get(CONFIGS, as('alice'))).headers['x-orch-pf-flowschema-uid']
  const before = await flowOf()
  await server.post(`${GROUP}/prioritylevelconfigurations`, level('mine', 10, 4), MASTER)
  const made = await server.post(`${GROUP}/flowschemas`, schema('mine', 'mine', ['alice']), MASTER)
  t.equal(await flowOf(), made.json['metadata'].uid)
  await server.call(
    'PUT', `${GROUP}/flowschemas/mine`,
    { ...schema('mine', 'mine', ['bob']), apiVersion: 'flowcontrol.apiserver.orch.io/v1beta2', kind: 'FlowSchema' },
    MASTER
  )
  t.equal(await flowOf(), before)
  await server.call('PUT', `${GROUP}/flowschemas/mine`, schema('mine', 'mine', ['*']), MASTER)
  t.equal(await flowOf(), made.json['metadata'].uid)
  await server.call('DELETE', `${GROUP}/prioritylevelconfigurations/mine`, undefined, MASTER)
  t.equal(await flowOf(), before, 'a schema without its level matches no request')
})

t.test('the status of a flow schema says whether its priority level exists', async t => {
  const server = await build(t, { limits: { priorityAndFairness: true } })
  const condition = async (name: string, status: string): Promise<Json> => {
    for (;;) {
      const found = (await server.get(`${GROUP}/flowschemas/${name}`, MASTER)).json['status'].conditions?.find(
        (one: Json) => one['type'] === 'Dangling' && one['status'] === status
      )
      if (found !== undefined) return found
      await turn()
    }
  }
  t.match(await condition('exempt', 'False'), {
    reason: 'Found',
    message: 'This FlowSchema references the PriorityLevelConfiguration object named "exempt" and it exists',
    lastTransitionTime: /Z$/
  })
  await server.post(`${GROUP}/flowschemas`, schema('lost', 'nowhere', ['alice']), MASTER)
  t.match(await condition('lost', 'True'), {
    reason: 'NotFound',
    message:
      'This FlowSchema references the PriorityLevelConfiguration object named "nowhere" but there is no such object'
  })
  await server.post(`${GROUP}/prioritylevelconfigurations`, level('nowhere', 10, 4), MASTER)
  await condition('lost', 'False')
  const { json } = await server.get(`${GROUP}/flowschemas/lost`, MASTER)
  t.equal(json['metadata'].generation, 1, 'a status update does not change the generation')
  t.ok(json['metadata'].managedFields.some((one: Json) =>
    one['manager'] === 'api-priority-and-fairness-config-consumer-v1' &&
    one['subresource'] === 'status' && one['apiVersion'] === 'flowcontrol.apiserver.orch.io/v1beta2'))
})

t.test('a watch has a seat while it begins, a connection none', async t => {
  const server = await listen(t, {
    limits: { priorityAndFairness: true, maxRequestsInflight: 4, maxMutatingRequestsInflight: 4 }
  })
  const watches: Watch[] = []
  for (let index = 0; index < 10; index++) {
    watches.push(await Watch.open(t, `${server.url}${CONFIGS}?watch=1`, as('alice')))
  }
  t.ok(watches.every(({ code }) => code === 200))
  t.equal((await server.get(CONFIGS, as('alice'))).code, 200)
  t.match(
    (await server.get('/metrics', MASTER)).body,
    /apiserver_flowcontrol_request_execution_seconds_count\{priority_level="global-default",flow_schema="global-default",type="watch"\} 10/
  )
  t.equal((await server.post(CONFIGS, { metadata: { name: 'one' } }, as('alice'))).code, 201)
  t.ok(
    await metric(
      server,
      /^apiserver_flowcontrol_watch_count_samples_sum\{priority_level="global-default",flow_schema="global-default"\} (\d+)$/m
    ) >= 10,
    'a write knows of the watches that it wakes'
  )
})

t.test('a request whose client disconnects leaves the queue', async t => {
  const held = gate()
  const server: Listening = await listen(t, {
    limits: { priorityAndFairness: true, maxRequestsInflight: 300, maxMutatingRequestsInflight: 192 },
    authorization: { authorizers: [held.authorizer] }
  })
  await server.post(`${GROUP}/prioritylevelconfigurations`, level('narrow', 1, 4), MASTER)
  await server.post(`${GROUP}/flowschemas`, schema('narrow', 'narrow', ['elephant']), MASTER)
  const busy = Array.from({ length: 2 }, () => server.get(`${CONFIGS}/held`, as('elephant')))
  await held.arrived(2)
  const gone = httpRequest(`${server.url}${CONFIGS}/held`, { headers: as('elephant'), agent: false })
  gone.on('error', () => {})
  gone.end()
  await queued(server, 1)
  gone.destroy()
  await queued(server, 0)
  t.equal(
    await metric(
      server,
      /^apiserver_flowcontrol_rejected_requests_total\{priority_level="narrow",flow_schema="narrow",reason="cancelled"\} (\d+)$/m
    ),
    1
  )
  for (const { go } of held.waiting) go()
  await Promise.all(busy)
})

t.test('without its group served, what is mandatory holds', async t => {
  const server = await build(t, {
    limits: { priorityAndFairness: true },
    api: { disabled: ['flowcontrol.apiserver.orch.io/v1beta1', 'flowcontrol.apiserver.orch.io/v1beta2'] }
  })
  t.equal((await server.get(CONFIGS, as('alice'))).code, 200)
})

t.test('texts of clients stay on their line of a dump', t => {
  t.equal(columns(['A', 'B'], [['x\nexempt, 1', 'y\u001b[31m']]), 'A,           B\nx?exempt, 1, y?[31m\n')
  t.end()
})
