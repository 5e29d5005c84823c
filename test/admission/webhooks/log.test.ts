/**
 * Log lines about a failing hook name the hook and the reason, and contain nothing of the reviewed object, even if the
 * hook repeats it.
 */
import t from 'tap'
import orch from '../../../app.js'
import { client } from '../../build.js'
import Fastify from '../../fastify.js'
import { hookServer, configure, patching, webhook, MUTATING, ON_CONFIGS, type Answer } from './hook-server.js'
import { polled } from '../../polled.js'

const SECRETS = '/api/v1/namespaces/default/secrets'
const SECRET = 'aHVzaC1odXNo'

const CASES: ReadonlyArray<readonly [string, Answer, RegExp]> = [
  [
    'repeats it in a failure',
    ({ request }, reply) => { reply.writeHead(500).end(JSON.stringify(request.object)); return undefined },
    /it answered 500/
  ],
  [
    'repeats it in a Status',
    (_review, reply) => { reply.writeHead(403).end(`{"kind":"Status","message":"no ${SECRET}"}`); return undefined },
    /it answered 403/
  ],
  [
    'answers broken JSON', (_review, reply) => { reply.end(`{"data": ${SECRET}`); return undefined },
    /json parse error: the body is not valid JSON/
  ],
  [
    'answers something else',
    (_review, reply) => { reply.end(JSON.stringify({ kind: SECRET, apiVersion: SECRET })); return undefined },
    /it answered something else than a review/
  ],
  [
    'answers with the wrong types', () => ({ allowed: SECRET }),
    /AdmissionReview\.response\.allowed: expected true or false/
  ],
  [
    'patches with broken JSON',
    () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from(`[{"value": ${SECRET}`).toString('base64') }),
    /received undecodable patch in webhook response: it is not valid JSON/
  ],
  [
    'patches with the wrong types', patching({ op: 'add', path: '/immutable', value: SECRET }),
    /the patch of admission webhook .*a\.example\.com.* cannot be followed: Secret\.immutable: expected true or false/
  ],
  [
    'patches what is not there', patching({ op: 'replace', path: '/nothing/here', value: SECRET }),
    /the patch of admission webhook .*a\.example\.com.* cannot be followed: the JSON patch does not fit the object/
  ]
]

t.test('the log entry of a failing webhook has none of its own text', async t => {
  const log: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { log.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, {})
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  const hook = await hookServer(t)
  await configure(server, MUTATING, 'a', webhook('a', hook, { rules: [{ ...ON_CONFIGS, resources: ['secrets'] }] }))
  for (const [what, answer, words] of CASES) {
    hook.answer = answer
    log.length = 0
    t.equal((await server.post(SECRETS, { metadata: { name: 's' }, data: { key: SECRET } })).code, 500, what)
    t.match(log.join(''), words, what)
    t.notMatch(log.join(''), SECRET, what)
  }
})
