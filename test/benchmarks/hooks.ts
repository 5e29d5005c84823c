/**
 * Cost of one webhook for a write, in this process: over TLS on the loopback interface, compared to a bare call of the
 * same hook.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import { authority } from '../serving/authority.js'
import { pool } from './http1.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { polled } from '../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const OBJECT = { metadata: { name: 'c', labels: { app: 'web' } }, data: { settings: 'x'.repeat(2048) } }
const WEBHOOKS = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations'

/** Concurrent calls: a process that sleeps between two calls pays for that, whatever it does in them. */
const CALLERS = 16

/** Microseconds of CPU per call, for that many calls. */
async function cost (count: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await pool(count, CALLERS, work)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

async function serving (): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(async scope => { await orch(scope, { storage: { kind: 'memory' } }) })
  await app.ready()
  await polled(async () => (await app.inject('/readyz')).statusCode === 200)
  return app
}

const post = async (app: FastifyInstance, url: string, payload: object): Promise<void> => {
  const { statusCode, body } = await app.inject({ method: 'POST', url, payload })
  if (statusCode !== 201) throw new Error(`${url}: ${body}`)
}

function bareCall (agent: Agent, port: number, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request({
      agent,
      port,
      host: '127.0.0.1',
      servername: '',
      path: '/hook',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => { text += more }).on('end', () => {
        if ((JSON.parse(text) as { response?: { allowed?: boolean } }).response?.allowed === true) resolve()
        else reject(new Error(text))
      })
    }).on('error', reject).end(body)
  })
}

export async function hooks (scale: Scale): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-hook-'))
  const ca = authority('authority of hooks')
  const pair = ca.issue({ commonName: 'hook', names: ['127.0.0.1'], uses: ['server'] })
  const [certificate, key] = [join(folder, 'hook.crt'), join(folder, 'hook.key')]
  writeFileSync(certificate, pair.certificate)
  writeFileSync(key, pair.key, { mode: 0o600 })
  const hook = fork(fileURLToPath(new URL('./bare-hook.js', import.meta.url)), [certificate, key])
  const [port] = await once(hook, 'message') as [number]
  const [plain, asking] = [await serving(), await serving()]
  await post(asking, WEBHOOKS, {
    metadata: { name: 'bench' },
    webhooks: [
      {
        name: 'bench.example.com',
        clientConfig: {
          url: `https://127.0.0.1:${port}/hook`, caBundle: Buffer.from(ca.certificate).toString('base64')
        },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1']
      }
    ]
  })
  const review = JSON.stringify({
    kind: 'AdmissionReview', apiVersion: 'admission.orch.io/v1', request: { uid: 'u', object: OBJECT }
  })
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS, ca: ca.certificate })
  const count = Math.ceil(scale.writes / 10)
  const [ours, bare, nothing]: [number[], number[], number[]] = [[], [], []]
  const create = (app: FastifyInstance) => () => post(app, `${CONFIGS}?dryRun=All`, OBJECT)
  for (let round = 0; round <= scale.rounds; round++) {
    const [without, having, alone] = [
      await cost(count, create(plain)), await cost(count, create(asking)),
      await cost(count, () => bareCall(agent, port, review))
    ]
    if (round === 0) continue
    ours.push(having - without)
    bare.push(alone)
    nothing.push(without)
  }
  const unit = 'µs of CPU a call'
  report({
    work: 'one webhook over TLS, added to a create, beside a bare call',
    unit,
    ours,
    limit: bare,
    bound: 150
  })
  report({ work: 'create without a webhook', unit: 'µs of CPU a request', ours: nothing })
  agent.destroy()
  hook.kill()
  await Promise.all([plain.close(), asking.close()])
  rmSync(folder, { recursive: true, force: true })
}
