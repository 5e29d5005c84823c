/** The authorization webhook: what it receives, how long its decisions hold, and what it can do to the server. */
import t, { type Test } from 'tap'
import { checkedFlags, configuration } from '../../config/options.js'
import { readAccessReview } from '../../plugins/authorization/webhook.js'
import { systemClock, type Clock } from '../../event-loop/clock.js'
import { MovableClock } from '../../testing/clock.js'
import { flagged, SERVER_FILES, type Flagged } from '../flagged-server.js'
import type { Json } from '../build.js'
import { CA, kubeconfig, reviewer, type Reviewer } from '../reviewer.js'

const BINDINGS = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
const YES: Reviewer['answer'] = () => ({ allowed: true })

type Served = Flagged & {
  readonly get: (url: string, as?: string) => Promise<{ code: number, json: { message?: string } }>
}

const serve = async (t: Test, port: number, ...flags: string[]): Promise<Served> =>
  await serveAt(t, systemClock, port, ...flags)

async function serveAt (t: Test, clock: Clock, port: number, ...flags: string[]): Promise<Served> {
  const folder = t.testdir({
    ...SERVER_FILES,
    'ca.crt': CA,
    webhook: kubeconfig(port),
    tokens:
      'ann-token,ann,u1,"dev,ops"\n' +
      'system-token,system:serviceaccount:kube-system:a,u2,system:serviceaccounts:kube-system\n'
  })
  const mode = flags.some(flag => flag.startsWith('--authorization-mode=')) ? [] : ['--authorization-mode=Webhook']
  const all = [
    ...mode, `--authorization-webhook-config-file=${folder}/webhook`, `--token-auth-file=${folder}/tokens`, ...flags
  ]
  const { options } = await configuration(checkedFlags([`--data-dir=${folder}/data`, ...all]))
  const server = await flagged(t, folder, all, { authorization: options.authorization ?? {}, clock })
  return { ...server, get: (url, as = 'ann') => server.get(url, { authorization: `Bearer ${as}-token` }) }
}

t.test('the review has the configured version and is sent once while its result is cached', async t => {
  for (const version of ['v1beta1', 'v1']) {
    const service = await reviewer(t, YES)
    const server = await serve(t, service.port, ...(version === 'v1' ? ['--authorization-webhook-version=v1'] : []))
    service.asked.length = 0
    t.same(
      await Promise.all(Array.from({ length: 20 }, async () => (await server.get(`${BINDINGS}/b`)).code)),
      Array.from({ length: 20 }, () => 404)
    )
    const groups = ['dev', 'ops', 'system:authenticated']
    t.same(service.asked, [{
      apiVersion: `authorization.orch.io/${version}`,
      kind: 'SubjectAccessReview',
      spec: {
        resourceAttributes: {
          verb: 'get', group: 'rbac.authorization.orch.io', version: 'v1', resource: 'clusterrolebindings', name: 'b'
        },
        user: 'ann', uid: 'u1', ...(version === 'v1' ? { groups } : { group: groups })
      }
    }])
    await server.get('/version')
    t.match(service.asked.at(-1), { spec: { nonResourceAttributes: { path: '/version', verb: 'get' } } })
  }
})

t.test('the review has the requirements of selectors, in v1 of release 1.36', async t => {
  const [LIST, v1, today] = ['/api/v1/pods', '--authorization-webhook-version=v1', '--emulated-version=1.36']
  for (const [flags, told] of [
    [[v1, today], true], [[v1, '--feature-gates=AuthorizeWithSelectors=true'], true], [[today], false], [[v1], false]
  ] as const) {
    const service = await reviewer(t, YES)
    const server = await serve(t, service.port, ...flags)
    const attributes = async (query: string): Promise<unknown> => {
      service.asked.length = 0
      await server.get(`${LIST}?${query}`)
      const [{ fieldSelector, labelSelector }] = service.asked.map(({ spec }) =>
        spec.resourceAttributes as Json) as [Json]
      return [fieldSelector, labelSelector]
    }
    const query =
      `fieldSelector=${encodeURIComponent('spec.nodeName=n,status.phase!=Failed')}&labelSelector=` +
      `${encodeURIComponent('c in (z,y),!b,a!=x,d>1,e')}`
    t.same(await attributes(query), told
      ? [
          {
            requirements: [
              { key: 'spec.nodeName', operator: 'In', values: ['n'] },
              { key: 'status.phase', operator: 'NotIn', values: ['Failed'] }
            ]
          },
          {
            requirements: [
              { key: 'a', operator: 'NotIn', values: ['x'] },
              { key: 'b', operator: 'DoesNotExist' },
              { key: 'c', operator: 'In', values: ['y', 'z'] },
              { key: 'e', operator: 'Exists' }
            ]
          }
        ]
      : [undefined, undefined], String(flags))
    if (!told) continue
    t.same(
      await attributes('fieldSelector=a%3Db&labelSelector=a%3D%3D%3Db'),
      [{ requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }, undefined], 'one that cannot be read is none'
    )
    await server.get(`${LIST}?fieldSelector=a%3Db&labelSelector=a%3D%3D%3Db`)
    t.equal(service.asked.length, 1, 'the answer is kept')
    await server.get(`${LIST}?fieldSelector=a%3Dc`)
    t.equal(service.asked.length, 2, 'but for that selector alone')
  }
})

t.test('with --compat-names a webhook is asked by the names that it knows', async t => {
  for (const version of ['v1beta1', 'v1']) {
    const service = await reviewer(t, ({ spec }) => ({
      allowed: spec.resourceAttributes?.namespace !== 'kube-system', reason: 'not there'
    }))
    const server = await serve(t, service.port, `--authorization-webhook-version=${version}`, '--compat-names')
    service.asked.length = 0
    t.equal((await server.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kube-scheduler')).code, 404)
    t.match(
      await server.get('/api/v1/namespaces/kube-system/configmaps?labelSelector=kubernetes.io/hostname%3Da'),
      { code: 403, json: { message: /not there/ } }
    )
    t.match(await server.get('/api/v1/namespaces/kube-system/configmaps', 'system'), { code: 403 })
    const labelSelector = { requirements: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }] }
    const groups = ['system:serviceaccounts:kube-system', 'system:authenticated']
    t.match(service.asked, [
      {
        apiVersion: `authorization.k8s.io/${version}`,
        kind: 'SubjectAccessReview',
        spec: {
          resourceAttributes: {
            group: 'rbac.authorization.k8s.io', resource: 'clusterroles', name: 'system:kube-scheduler'
          },
          user: 'ann'
        }
      },
      {
        spec: {
          resourceAttributes: { namespace: 'kube-system', labelSelector: version === 'v1' ? labelSelector : undefined }
        }
      },
      { spec: { user: 'system:serviceaccount:kube-system:a', [version === 'v1' ? 'groups' : 'group']: groups } }
    ])
    await server.get('/api/v1/namespaces/kube-system/configmaps', 'system')
    t.equal(service.asked.length, 3, 'and what it said is cached')
  }
})

t.test('a refusal by the webhook is 403 with its reason, whether it denies or has no opinion', async t => {
  for (const status of [
    { allowed: false, reason: 'not on Sundays' }, { allowed: false, denied: true, reason: 'not on Sundays' }
  ]) {
    const service = await reviewer(t, YES)
    const server = await serve(t, service.port, '--authorization-webhook-cache-unauthorized-ttl=0')
    service.answer = () => status
    const { code, json } = await server.get(BINDINGS)
    t.equal(code, 403)
    t.match(json.message, /not on Sundays/)
    service.answer = YES
    t.equal((await server.get(BINDINGS)).code, 200, 'and is not kept where it may not be')
  }
})

t.test('a denial ends the question, no opinion leaves it to the modes behind', async t => {
  const service = await reviewer(t, YES)
  const server = await serve(
    t, service.port, '--authorization-mode=Webhook,AlwaysAllow', '--authorization-webhook-cache-unauthorized-ttl=0'
  )
  service.answer = () => ({ allowed: false })
  t.equal((await server.get(BINDINGS)).code, 200)
  service.answer = () => ({ allowed: false, denied: true })
  t.equal((await server.get(BINDINGS)).code, 403)
  service.answer = () => ({ allowed: true, denied: true })
  t.equal((await server.get(`${BINDINGS}/both`)).code, 500, 'a response that both allows and denies allows nothing')
})

t.test('an answer says what has been decided, and need not say more', async t => {
  const service = await reviewer(t, YES)
  const server = await serve(t, service.port, '--authorization-webhook-cache-unauthorized-ttl=0')
  const bare = (status: object): Reviewer['answer'] => (_review, reply) => {
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ status }))
    return undefined
  }
  const cases: ReadonlyArray<readonly [object, number]> = [
    [{ allowed: true }, 404], [{ allowed: false, evaluationError: 'one list failed' }, 403], [{ denied: true }, 403],
    [{ reason: 'not on Sundays' }, 403], [{}, 403]
  ]
  for (const [index, [status, code]] of cases.entries()) {
    service.answer = bare(status)
    t.equal((await server.get(`${BINDINGS}/b${index}`)).code, code, JSON.stringify(status))
  }
})

t.test('a failing webhook allows nothing, and its host is logged', async t => {
  const service = await reviewer(t, YES)
  const server = await serve(t, service.port)
  const answers: Record<string, Reviewer['answer']> = {
    refused: (_review, reply) => { reply.writeHead(403).end('no'); return undefined },
    html: (_review, reply) => { reply.setHeader('content-type', 'text/html').end('<html></html>'); return undefined },
    'another kind': (review, reply) => {
      reply.end(JSON.stringify({ apiVersion: review.apiVersion, kind: 'TokenReview', status: { allowed: true } }))
      return undefined
    },
    'another version': (review, reply) => {
      reply.end(JSON.stringify({
        apiVersion: 'authorization.orch.io/v9', kind: review.kind, status: { allowed: true }
      }))
      return undefined
    },
    'a redirect': (_review, reply) => { reply.writeHead(307, { location: '/elsewhere' }).end(); return undefined },
    'text for a truth': () => ({ allowed: 'true' }),
    'both at once': () => ({ allowed: true, denied: true }),
    'no status': (review, reply) => {
      reply.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind }))
      return undefined
    }
  }
  for (const [title, answer] of Object.entries(answers)) {
    service.answer = answer
    t.equal((await server.get(`${BINDINGS}/${title.replaceAll(' ', '-')}`)).code, 500, title)
  }
  t.match(
    server.log.join(''),
    new RegExp(`access cannot be reviewed: authorization-webhook: https://localhost:${service.port}`)
  )
  t.notMatch(server.log.join(''), /own-secret|ann-token/)
  t.equal(server.log.join('').split('access cannot be reviewed').length - 1, 1, 'one line for all in a second')
  t.equal(
    server.log.join('').split('request failed').length - 1, 1,
    'and none for a request, but for an answer that contradicts itself'
  )
  service.answer = YES
  t.equal((await server.get(`${BINDINGS}/refused`)).code, 404, 'and nothing of a failure is kept')
})

t.test('an answer that allows too much is read strictly', async t => {
  const review = (status: object): object => ({ apiVersion: 'a/v1', kind: 'SubjectAccessReview', status })
  t.same(
    readAccessReview(review({ allowed: true, denied: true }), 'a/v1'),
    { decision: 'Deny', reason: '', evaluationError: new Error('status.allowed and status.denied are both true') }
  )
  t.throws(() => readAccessReview(null, 'a/v1'), TypeError)
  t.throws(() => readAccessReview(review({ allowed: true, reason: 1 }), 'a/v1'), TypeError)
  t.throws(() => readAccessReview({ ...review({ allowed: true }), kind: 'TokenReview' }, 'a/v1'), TypeError)
})

t.test("its answers are cached on the server's clock", async t => {
  const service = await reviewer(t, YES)
  const clock = new MovableClock(Date.now(), true)
  t.teardown(() => { clock.close() })
  const server = await serveAt(t, clock, service.port)
  const ask = async (): Promise<number> => {
    service.asked.length = 0
    await server.get(`${BINDINGS}/b`)
    return service.asked.length
  }
  t.equal(await ask(), 1)
  await clock.move('4m')
  t.equal(await ask(), 0)
  await clock.move('2m')
  t.equal(await ask(), 1)
})

t.test('answers about very long requests are not cached', async t => {
  const service = await reviewer(t, YES)
  const server = await serve(t, service.port)
  service.asked.length = 0
  for (let times = 0; times < 2; times++) await server.get(`/${'x'.repeat(10_001)}`)
  t.equal(service.asked.length, 2)
})

t.test('an invalid kubeconfig ends the start naming its flag, and the mode needs a kubeconfig', async t => {
  const folder = t.testdir({ broken: '{' })
  const flags = (...more: string[]): Promise<unknown> => Promise.resolve().then(() =>
    configuration(checkedFlags([`--data-dir=${folder}/data`, '--authorization-mode=Webhook', ...more])))
  await t.rejects(flags(`--authorization-webhook-config-file=${folder}/broken`), {
    name: 'FlagError', message: /^--authorization-webhook-config-file=/
  })
  await t.rejects(flags(), { message: /--authorization-mode.*Webhook needs --authorization-webhook-config-file/ })
})
