/** Thousands of unknown tokens, in every form that some method might recognize, while other clients work. */
import t from 'tap'
import { BINDINGS } from '../build.js'
import { flagged, SERVER_FILES } from '../flagged-server.js'
import { CA, kubeconfig, reviewer } from '../reviewer.js'
import { heapUsed } from './refusal.js'

/** More than the cache holds. */
const TOKENS = 5000
const AT_ONCE = 500
/** For cached answers of the webhook, and everything else that the server keeps. */
const MAX_MB = 60

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (at: number): string => [
  base64url({ alg: 'RS256', kid: `key-${at}` }),
  base64url({
    iss: 'https://orch.default.svc.cluster.local', sub: `system:serviceaccount:default:a${at}`, aud: ['x']
  }),
  `${'c2ln'.repeat(20)}${at}`
].join('.')
const FORMS: ReadonlyArray<(at: number) => string> = [
  at => `opaque-${at}`, jwt, at => `${String(at).padStart(6, '0')}.${String(at).padStart(16, '0')}`, at => `a.b.c${at}`,
  at => `${'x'.repeat(2000)}${at}`
]
const wrong = (at: number): string => (FORMS[at % FORMS.length] as (at: number) => string)(at) // there is one

t.test('a flood of wrong tokens is 401 each, bounded in memory and reviews, and others are served', async t => {
  let [underWay, most] = [0, 0]
  const service = await reviewer(t, (review, reply) => {
    most = Math.max(most, ++underWay)
    reply.on('close', () => { underWay-- })
    return { authenticated: review['spec'].token === 'good', user: { username: 'ann' } }
  })
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': CA, webhook: kubeconfig(service.port) })
  const server = await flagged(t, folder, [
    `--authentication-token-webhook-config-file=${folder}/webhook`, '--enable-bootstrap-token-auth=true'
  ])
  const ask = (token: string): Promise<number> =>
    server.get(BINDINGS, { authorization: `Bearer ${token}` }).then(({ code }) => code)
  t.equal(await ask('good'), 200)
  const before = await heapUsed()
  const refused = async (from: number, count: number): Promise<void> => {
    let next = from
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let at = next++; at < from + count; at = next++) {
        const code = await ask(wrong(at))
        if (code !== 401) t.fail(`${wrong(at).slice(0, 40)} is ${code}`)
      }
    }))
  }
  const flood = { over: false }
  const others = (async (): Promise<number> => {
    let served = 0
    while (!flood.over) {
      if (await ask('good') !== 200) t.fail('another client was not served')
      served++
      await new Promise(resolve => { setTimeout(resolve, 5) }) // leaves some CPU to others
    }
    return served
  })()
  await refused(0, TOKENS)
  const reviews = service.asked.filter(({ spec }) => spec.token !== 'good').length
  t.ok(reviews <= TOKENS, `${reviews} reviews were sent`)
  service.asked.length = 0
  await refused(TOKENS, TOKENS / 5) // when the cache is full
  flood.over = true
  t.ok(await others > 0)
  service.asked.length = 0
  t.ok(most <= AT_ONCE + 1, `${most} reviews were under way at once`)
  const kept = (await heapUsed() - before) / 2 ** 20
  t.ok(kept < MAX_MB, `${kept.toFixed(1)} MB are kept`)
  t.equal(await ask('good'), 200)
})
