/** The token webhook: what it receives, which answers are accepted, and what it can do to the server. */
import t, { type Test } from 'tap'
import { checkedFlags, configuration } from '../../config/options.js'
import { TokenCache } from '../../plugins/authentication/token-cache.js'
import { readTokenReview } from '../../plugins/authentication/webhook.js'
import type { Metrics } from '../../plugins/shared/metric-series.js'
import { MovableClock } from '../../testing/clock.js'
import { flagged, SERVER_FILES, type Flagged } from '../flagged-server.js'
import type { Json } from '../build.js'
import { CA, kubeconfig, reviewer, type Reviewer } from '../reviewer.js'

const yes: Reviewer['answer'] = ({ spec }) => spec.token === 'good'
  ? { authenticated: true, user: { username: 'ann', uid: 'u1', groups: ['dev'], extra: { k: ['v'] } } }
  : { authenticated: false }

async function serve (
  t: Test, port: number, ...flags: string[]
): Promise<Flagged & { readonly ask: (token: string) => Promise<number> }> {
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': CA, webhook: kubeconfig(port) })
  const server = await flagged(t, folder, [`--authentication-token-webhook-config-file=${folder}/webhook`, ...flags])
  return { ...server, ask: token => server.code(undefined, { authorization: `Bearer ${token}` }) }
}

t.test('a token is reviewed once, whatever the answer is', async t => {
  for (const version of ['v1beta1', 'v1']) {
    const service = await reviewer(t, yes)
    const { ask, seen, metrics } = await serve(
      t, service.port, ...(version === 'v1' ? ['--authentication-token-webhook-version=v1'] : [])
    ).then(server => ({ ...server, metrics: async () => (await server.get('/metrics')).body }))
    let authorization: string | undefined
    const { answer } = service
    service.answer = (review, reply, request) => {
      authorization = request.headers.authorization
      return answer(review, reply, request)
    }
    t.same(await Promise.all(Array.from({ length: 20 }, () => ask('good'))), Array.from({ length: 20 }, () => 200))
    t.same(seen.at(-1), { username: 'ann', uid: 'u1', groups: ['dev', 'system:authenticated'], extra: { k: ['v'] } })
    t.same(service.asked, [
      {
        apiVersion: `authentication.orch.io/${version}`,
        kind: 'TokenReview',
        spec: { token: 'good', audiences: ['https://orch.default.svc.cluster.local'] }
      }
    ])
    t.equal(authorization, 'Bearer own-secret', 'as whom the kubeconfig says')
    for (let times = 0; times < 3; times++) t.equal(await ask('bad'), 401)
    t.equal(service.asked.length, 2)
    t.match(await metrics(), /authentication_token_cache_request_total\{status="hit"\} \d/)
  }
})

t.test('with --compat-names it is asked by the names that it knows', async t => {
  const service = await reviewer(t, () => ({
    authenticated: true,
    user: { username: 'system:serviceaccount:kube-system:a', groups: ['system:serviceaccounts:kube-system'] }
  }))
  const { ask, seen } = await serve(t, service.port, '--authentication-token-webhook-version=v1', '--compat-names')
  t.equal(await ask('good'), 200)
  t.match(service.asked, [{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'good' } }])
  t.match(seen.at(-1), {
    username: 'system:serviceaccount:orch-system:a',
    groups: ['system:serviceaccounts:orch-system', 'system:authenticated']
  })
})

t.test("answers are cached on the server's clock", async t => {
  const service = await reviewer(t, yes)
  const clock = new MovableClock(Date.now(), true)
  t.teardown(() => { clock.close() })
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': CA, webhook: kubeconfig(service.port) })
  const { options: { authentication = {} } } = await configuration(checkedFlags([
    `--data-dir=${folder}/data`, `--authentication-token-webhook-config-file=${folder}/webhook`
  ]))
  const server = await flagged(t, folder, [], { authentication, clock })
  const ask = async (): Promise<number> => await server.code(undefined, { authorization: 'Bearer good' })
  t.equal(await ask(), 200)
  service.answer = () => ({ authenticated: false })
  await clock.move('1m')
  t.equal(await ask(), 200)
  await clock.move('2m')
  t.equal(await ask(), 401)
})

t.test('with a cache TTL of 0 every request is reviewed', async t => {
  const service = await reviewer(t, yes)
  const { ask } = await serve(t, service.port, '--authentication-token-webhook-cache-ttl=0')
  for (const code of [200, 200]) t.equal(await ask('good'), code)
  service.answer = () => ({ authenticated: false })
  t.equal(await ask('good'), 401)
  t.equal(service.asked.length, 3)
})

t.test('audiences are sent, and only those that the service confirms count', async t => {
  const service = await reviewer(t, yes)
  const server = await serve(t, service.port, '--api-audiences=api,alias')
  const review = async (token: string, ...audiences: string[]): Promise<Json> =>
    (await server.post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token, audiences } })).json.status
  const confirmed = (audiences?: string[]) => (): object => ({
    authenticated: true, user: { username: 'ann' }, audiences
  })
  service.answer = confirmed(['alias', 'more'])
  t.equal(await server.ask('one'), 200)
  t.same(service.asked.at(-1)?.spec.audiences, ['api', 'alias'])
  t.match(await review('two'), { authenticated: true, audiences: ['alias'] })
  t.match(await review('three', 'more', 'less'), { authenticated: true, audiences: ['more'] })
  t.same(service.asked.at(-1)?.spec.audiences, ['more', 'less'])
  service.answer = confirmed()
  t.match(
    await review('four'), { authenticated: true, audiences: ['api', 'alias'] },
    'a service that knows of none has reviewed it for this server'
  )
  t.equal((await review('five', 'elsewhere')).authenticated, undefined)
  service.answer = confirmed(['elsewhere'])
  t.equal(await server.ask('six'), 401)
  t.equal((await review('six', 'elsewhere')).authenticated, true, 'one question for other audiences is another one')
})

t.test('a review is retried if the webhook is overloaded, and not if it refuses', async t => {
  const service = await reviewer(t, yes)
  const { ask, log } = await serve(t, service.port)
  const { answer } = service
  service.answer = (review, reply, request) => {
    if (service.asked.length > 1) return answer(review, reply, request)
    reply.writeHead(503, { 'retry-after': '0' }).end()
    return undefined
  }
  t.equal(await ask('good'), 200)
  t.equal(service.asked.length, 2)
  t.same(log, [])
  service.answer = (_review, reply) => { reply.writeHead(403).end('no'); return undefined }
  t.equal(await ask('other'), 401)
  t.equal(service.asked.length, 3)
  t.match(log.join(''), new RegExp(`https://localhost:${service.port}: answered 403`))
  t.notMatch(log.join(''), /other|own-secret/)
  service.answer = answer
  t.equal(await ask('other'), 401)
  service.answer = () => ({ authenticated: true, user: { username: 'late' } })
  t.equal(await ask('another'), 200, 'and nothing of a failure is kept')
})

t.test('an answer need not say again what it is', async t => {
  const service = await reviewer(t, yes)
  const { ask } = await serve(t, service.port)
  service.answer = (_review, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.end(JSON.stringify({ status: { authenticated: true, user: { username: 'bare' } } }))
    return undefined
  }
  t.equal(await ask('bare'), 200)
})

t.test('an invalid response authenticates nobody, and is logged once with the host', async t => {
  const service = await reviewer(t, yes)
  let followed = 0
  const answers: Record<string, Reviewer['answer']> = {
    html: (_review, reply) => { reply.setHeader('content-type', 'text/html').end('<html></html>'); return undefined },
    'another kind': (review, reply) => {
      reply.end(JSON.stringify({
        apiVersion: review.apiVersion,
        kind: 'SubjectAccessReview',
        status: { authenticated: true, user: { username: 'root' } }
      }))
      return undefined
    },
    'another version': (review, reply) => {
      reply.end(JSON.stringify({
        apiVersion: 'authentication.orch.io/v2',
        kind: review.kind,
        status: { authenticated: true, user: { username: 'root' } }
      }))
      return undefined
    },
    'a list': (_review, reply) => { reply.end('[]'); return undefined },
    'a redirect': (_review, reply, request) => {
      if (request.url === '/elsewhere') followed++
      reply.writeHead(307, { location: `https://localhost:${service.port}/elsewhere` }).end()
      return undefined
    },
    'no end': (_review, reply) => {
      reply.setHeader('content-type', 'application/json')
      const more = (): void => { while (!reply.destroyed && reply.write(Buffer.alloc(65_536, ' '))); }
      reply.on('drain', more)
      more()
      return undefined
    },
    'no user': () => ({ authenticated: true }),
    'an empty name': () => ({ authenticated: true, user: { username: '' } }),
    'text for a truth': () => ({ authenticated: 'true', user: { username: 'root' } }),
    'text for groups': () => ({ authenticated: true, user: { username: 'root', groups: 'system:masters' } }),
    'numbers for groups': () => ({ authenticated: true, user: { username: 'root', groups: [1] } }),
    'a list for extra': () => ({ authenticated: true, user: { username: 'root', extra: ['x'] } }),
    'an error': () => ({ authenticated: false, error: 'the realm is closed' })
  }
  const { ask, log } = await serve(t, service.port)
  for (const [title, answer] of Object.entries(answers)) {
    service.answer = answer
    t.equal(await ask(title.replaceAll(' ', '-')), 401, title)
  }
  t.equal(followed, 0)
  t.equal(log.length, 1)
  t.match(log[0], new RegExp(`https://localhost:${service.port}`))
})

t.test('a webhook that hangs ends in a timeout, and a token that fits in no header is not sent', async t => {
  const service = await reviewer(t, yes)
  service.answer = () => undefined
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': CA, webhook: kubeconfig(service.port) })
  const { options } = await configuration(checkedFlags([
    `--data-dir=${folder}/data`, `--authentication-token-webhook-config-file=${folder}/webhook`
  ]))
  const { webhook } = options.authentication ?? {}
  if (webhook === undefined) throw new Error('there is no webhook')
  const server = await flagged(
    t,
    folder,
    [],
    {
      authentication: { webhook: { ...webhook, client: { headersTimeout: 50, deadline: 500, pause: async () => {} } } }
    }
  )
  t.same(
    await Promise.all(Array.from({ length: 10 }, () => server.code(undefined, { authorization: 'Bearer slow' }))),
    Array.from({ length: 10 }, () => 401)
  )
  t.ok(service.asked.length <= 5, 'all of them wait for one question and its repetitions')
  t.match(server.log.join(''), /no answer in time|no whole answer/)
  service.asked.length = 0
  const { json } = await server.post('/apis/authentication.orch.io/v1/tokenreviews', {
    spec: { token: 'x'.repeat(100_000) }
  })
  t.match(json.status, { authenticated: undefined, error: /more than 65536 characters/ })
  t.equal(service.asked.length, 0)
})

t.test('an error of the webhook does not repeat the token', async t => {
  const service = await reviewer(
    t, ({ spec }) => ({ authenticated: false, error: `${'x'.repeat(995)} ${String(spec.token)}` })
  )
  const server = await serve(t, service.port)
  const { json } = await server.post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token: 'sesame' } })
  t.match(json.status.error, /x …\]$/)
})

t.test('a review is read strictly', async t => {
  const review = (status: object): object => ({ apiVersion: 'a/v1', kind: 'TokenReview', status })
  t.same(
    readTokenReview(
      review({ authenticated: true, user: { username: 'a', groups: null, extra: null } }), 'a/v1', undefined, []
    ),
    { username: 'a', uid: '', groups: [], extra: {} }
  )
  t.equal(readTokenReview(review({}), 'a/v1', undefined, []), undefined)
  t.throws(() => readTokenReview(review({ error: 'closed' }), 'a/v1', undefined, []), { message: 'closed' })
  t.throws(() => readTokenReview({}, 'a/v1', undefined, []), TypeError)
})

t.test('a kubeconfig with missing parts ends the start with its flag', async t => {
  const whole = JSON.parse(kubeconfig(1)) as Json
  const folder = t.testdir({
    'ca.crt': CA,
    broken: '{',
    empty: '',
    'no-server': JSON.stringify({ ...whole, clusters: [{ name: 'reviewer', cluster: {} }] }),
    'no-cluster': JSON.stringify({ ...whole, clusters: [] }),
    'no-context': JSON.stringify({ ...whole, 'current-context': '' }),
    'no-user': JSON.stringify({ ...whole, users: [] }),
    'no-ca': JSON.stringify({
      ...whole, clusters: [{ name: 'reviewer', cluster: { server: 'https://x', 'certificate-authority': 'none' } }]
    })
  })
  for (const name of ['none', 'broken', 'empty', 'no-server', 'no-cluster', 'no-context', 'no-user', 'no-ca']) {
    await t.rejects(
      configuration(checkedFlags([
        `--data-dir=${folder}/data`, `--authentication-token-webhook-config-file=${folder}/${name}`
      ])),
      { name: 'FlagError', message: new RegExp(`^--authentication-token-webhook-config-file=.*${name}`) },
      name
    )
  }
  const { warnings } = await configuration(checkedFlags([
    `--data-dir=${folder}/data`, '--authentication-token-webhook-version=v1'
  ]))
  t.match(warnings, [/--authentication-token-webhook-version has no effect without/])
})

/** Metrics that are ignored. */
const none = { add: () => {}, set: () => {}, observe: () => {} }
const metrics = {
  counter: () => ({ with: () => none }), gauge: () => ({ with: () => none }), histogram: () => ({ with: () => none })
} as unknown as Metrics
const user = (username: string) => ({ username, uid: '', groups: [], extra: {} })

t.test('the cache is bounded in time and number, and so are reviews in progress', async t => {
  let clock = 0
  const asked: string[] = []
  let held: Promise<void> = Promise.resolve()
  const cache = new TokenCache({
    lookup: async token => {
      asked.push(token)
      await held
      if (token === 'broken') throw new Error('down')
      return token.startsWith('x')
        ? { found: undefined }
        : { found: user(token), ...(token === 'short' ? { until: 5003 + clock } : {}) }
    },
    known: 10,
    unknown: 2,
    metrics,
    maxEntries: 3,
    maxLookups: 2,
    clock: { elapsed: () => clock, wall: () => 5000 + clock }
  })
  t.match(await cache.find('a'), { username: 'a' })
  t.match(cache.find('a'), { username: 'a' }, 'at once')
  t.match(await cache.find('a', ['other']), { username: 'a' })
  t.equal(asked.length, 2)
  await cache.find('x')
  t.equal(cache.find('x'), undefined)
  clock = 2
  await cache.find('x')
  await cache.find('short')
  t.equal(asked.length, 5)
  for (let at = 0; at < 5; at++) await cache.find(`x${at}`)
  t.match(cache.find('a'), { username: 'a' }, 'invalid tokens do not evict valid ones')
  await cache.find('b')
  t.match(await cache.find('a'), { username: 'a' })
  t.equal(asked.length, 12, 'but the oldest has to go')
  clock = 5
  t.match(await cache.find('short'), { username: 'short' })
  t.equal(asked.length, 13, 'no longer than it is true')
  for (let times = 0; times < 2; times++) await t.rejects(async () => await cache.find('broken'), { message: 'down' })
  t.equal(asked.length, 15)
  let release = (): void => {}
  held = new Promise(resolve => { release = resolve })
  const waiting = [cache.find('p'), cache.find('q'), cache.find('p')]
  await t.rejects(async () => await cache.find('r'), /more than 2 lookups/)
  release()
  await Promise.all(waiting)
  t.equal(asked.length, 17)
})
