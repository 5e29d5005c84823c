/** A server without a cluster says that nothing acts on what is created, once for each client and kind. */
import t from 'tap'
import { build, type Answer, type Client, type Json, type Test } from '../build.js'
import { systemClock, type Clock } from '../../event-loop/clock.js'
import { testServer } from '../../testing/index.js'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const LEASES = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases'
const TOLD =
  '299 - "nothing runs here: the Deployment is stored, but no controller manager has been seen that would act on it"'
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } }
const deployment = (name: string): Json => ({
  metadata: { name }, spec: { selector: { matchLabels: { app: 'web' } }, template }
})

/** By the header `x-user`. */
const named = {
  name: 'named',
  authenticate: ({ headers }: { readonly headers: Json }) => ({
    username: String(headers['x-user'] ?? 'me'), uid: '', groups: [], extra: {}
  })
}
const alone = (t: Test, more: object = {}): Promise<Client> =>
  build(t, { standalone: true, authentication: { authenticators: [named] }, ...more })

/** The Warning of an answer that has one. */
const only = ({ headers: { warning } }: Answer): unknown =>
  Array.isArray(warning) && warning.length === 1 ? warning[0] : warning

let number = 0
/** The warnings of a create. */
async function warnings (server: Client, headers: Record<string, string> = {}, query = ''): Promise<unknown> {
  const answer = await server.post(`${DEPLOYMENTS}${query}`, deployment(`web-${++number}`), headers)
  if (answer.code !== 201) throw new Error(answer.body)
  return only(answer)
}

t.test('each client is told once for each kind, when it has created an object', async t => {
  const server = await alone(t)
  t.equal(await warnings(server, {}, '?dryRun=All'), undefined, 'a dry run creates nothing')
  t.equal(
    (await server.post(DEPLOYMENTS, { ...deployment('bad'), spec: {} })).headers.warning, undefined,
    'nor does a refused request'
  )
  t.equal(await warnings(server), TOLD)
  t.equal(await warnings(server), undefined)
  t.equal(await warnings(server, { 'user-agent': 'other' }), TOLD)
  t.equal(await warnings(server, { 'x-user': 'you' }), TOLD)
  t.equal(await warnings(server, { 'x-user': 'you' }), undefined)
})

t.test('of all kinds that a controller manager acts on, however they are created, and of no other', async t => {
  const server = await alone(t)
  const job = { template: { spec: { ...template.spec, restartPolicy: 'Never' } } }
  const labelled = { selector: { matchLabels: { app: 'web' } }, template }
  const cases: ReadonlyArray<readonly [path: string, spec: Json, kind: string | undefined]> = [
    ['/api/v1/namespaces/default/pods', template.spec, 'Pod'],
    [
      '/api/v1/namespaces/default/replicationcontrollers', { selector: { app: 'web' }, template },
      'ReplicationController'
    ],
    ['/apis/apps/v1/namespaces/default/replicasets', labelled, 'ReplicaSet'],
    ['/apis/apps/v1/namespaces/default/daemonsets', labelled, 'DaemonSet'],
    ['/apis/apps/v1/namespaces/default/statefulsets', { ...labelled, serviceName: 'web' }, 'StatefulSet'],
    ['/apis/batch/v1/namespaces/default/jobs', job, 'Job'],
    ['/apis/batch/v1/namespaces/default/cronjobs', { schedule: '* * * * *', jobTemplate: { spec: job } }, 'CronJob'],
    [
      '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
      { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' } },
      'HorizontalPodAutoscaler'
    ],
    ['/api/v1/namespaces/default/services', { ports: [{ port: 80 }] }, undefined],
    ['/api/v1/namespaces/default/configmaps', {}, undefined]
  ]
  for (const [path, spec, kind] of cases) {
    const made = await server.post(path, {
      metadata: { name: 'web' }, ...Object.keys(spec).length === 0 ? {} : { spec }
    })
    t.equal(made.code, 201, made.body)
    t.equal(only(made), kind === undefined ? undefined : TOLD.replace('Deployment', kind), path)
  }
  const apply = await server.call(
    'PATCH', `${DEPLOYMENTS}/applied?fieldManager=me`,
    { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment('applied') },
    { 'content-type': 'application/apply-patch+yaml' }
  )
  t.match([apply.code, only(apply)], [201, TOLD])
  t.equal((await server.patch(`${DEPLOYMENTS}/applied`, { spec: { replicas: 2 } })).headers.warning, undefined)
})

t.test('it is one of several warnings', async t => {
  const server = await alone(t)
  const made = await server.post(`${DEPLOYMENTS}?fieldValidation=Warn`, { ...deployment('web'), nothing: 1 })
  t.same(made.headers.warning, ['299 - "unknown field \\"nothing\\""', TOLD])
})

t.test('a controller manager that asked or renewed its lease within five minutes acts on them', async t => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const clock: Clock = { ...systemClock, wall: () => now }
  for (const name of ['orch-controller-manager', 'kube-controller-manager']) {
    const server = await alone(t, { clock })
    const fresh = (): Record<string, string> => ({ 'user-agent': `client ${++number}` })
    t.equal(await warnings(server, fresh()), TOLD)
    await server.get('/version', { 'x-user': `system:${name}` })
    t.equal(await warnings(server, fresh()), undefined)
    now += 5 * 60_000
    t.equal(await warnings(server, fresh()), undefined)
    now += 1
    t.equal(await warnings(server, fresh()), TOLD)
    const lease = {
      metadata: { name },
      spec: {
        holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: new Date(now).toISOString().replace('Z', '000Z')
      }
    }
    t.equal((await server.post(LEASES, lease)).code, 201)
    t.equal(await warnings(server, fresh()), undefined)
    now += 5 * 60_000 - 1
    t.equal(await warnings(server, fresh()), undefined)
    now += 1
    t.equal(await warnings(server, fresh()), TOLD)
  }
})

t.test('other servers, and those of tests, say nothing', async t => {
  t.equal(await warnings(await build(t)), undefined)
  await using server = await testServer()
  const { headers, status } = await fetch(`${server.url}${DEPLOYMENTS}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(deployment('web'))
  })
  t.match([status, headers.get('warning')], [201, null])
})

t.test('the page says it until a controller manager comes', async t => {
  const server = await alone(t)
  const page = async (user = 'me'): Promise<string> =>
    (await server.get('/', { accept: 'text/html', 'x-user': user })).body
  t.match(await page(), '<h2 id="alone">Nothing runs here</h2>')
  t.notMatch(await page('system:orch-controller-manager'), 'Nothing runs here')
  t.notMatch(await (async () => (await (await build(t)).get('/', { accept: 'text/html' })).body)(), 'Nothing runs here')
})

t.test('without nodes logs and commands of a pod say that there are none', async t => {
  const server = await build(t)
  const pod = '/api/v1/namespaces/default/pods/web'
  await server.post('/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec: template.spec })
  const exec = (): Promise<Json> => server.call(
    'POST', `${pod}/exec?command=ls&stdout=true`, undefined, { connection: 'upgrade', upgrade: 'SPDY/3.1' }
  ).then(({ json }) => json)
  t.match(await server.get(`${pod}/log`), {
    code: 204, headers: { warning: ['299 - "pod web has no log: there are no nodes that would run it"'] }
  })
  t.match(await exec(), {
    code: 400, message: 'pod web does not have a host assigned: there are no nodes that would run it'
  })
  await server.post('/api/v1/nodes', { metadata: { name: 'one' } })
  t.match(await server.get(`${pod}/log`), { code: 204, headers: { warning: undefined } })
  t.match(await exec(), { code: 400, message: /^pod web does not have a host assigned$/ })
})
