/**
 * Stands in for a controller manager or scheduler: it elects a leader by a Lease, and says over TLS whether it is
 * healthy.
 *
 *     node component.js --kubeconfig=FILE --address=ADDRESS --port=PORT --lease=NAME --identity=NAME
 */
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { certify } from '../../serving/certify.js'
import type { Json } from '../build.js'

const text = { type: 'string', default: '' } as const
const { values: { kubeconfig, address, port, lease, identity } } = parseArgs({
  options: { kubeconfig: text, address: text, port: text, lease: text, identity: text }
})

const { clusters: [{ cluster }], users: [{ user }] } = parse(readFileSync(kubeconfig, 'utf8')) as {
  clusters: [{ cluster: Record<string, string> }]
  users: [{ user: Record<string, string> }]
}
const of = (data = ''): string => Buffer.from(data, 'base64').toString()
const credentials = {
  ca: of(cluster['certificate-authority-data']),
  cert: of(user['client-certificate-data']),
  key: of(user['client-key-data'])
}

const LEASES = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases'
const EXPIRES = 2000

function call (method: string, path: string, body?: Json): Promise<{ code: number, json: Json }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${cluster['server'] ?? ''}${path}`, {
      method, ...credentials, headers: { 'content-type': 'application/json' }, timeout: 5000
    }, response => {
      let answer = ''
      response.on('data', (piece: Buffer) => { answer += piece.toString() })
      response.on('end', () => { resolve({ code: response.statusCode ?? 0, json: JSON.parse(answer) as Json }) })
    })
    sent.on('error', reject).on('timeout', () => { sent.destroy(new Error('no answer in time')) })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Takes the Lease, or renews it, if nobody else holds it. @throws Error for a refusal */
async function elect (): Promise<void> {
  const { code, json } = await call('GET', `${LEASES}/${lease}`)
  const spec = {
    holderIdentity: identity,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
    leaseDurationSeconds: EXPIRES / 1000
  }
  if (code === 404) {
    const made = await call('POST', LEASES, { metadata: { name: lease }, spec })
    if (made.code !== 201 && made.code !== 409) throw new Error(JSON.stringify(made))
    return
  }
  if (code !== 200) throw new Error(JSON.stringify(json))
  const held = json['spec'] as Json
  if (held['holderIdentity'] !== identity && Date.now() - Date.parse(String(held['renewTime'])) < EXPIRES) return
  const renewed = await call('PUT', `${LEASES}/${lease}`, { ...json, spec })
  if (renewed.code !== 200 && renewed.code !== 409) throw new Error(JSON.stringify(renewed))
}

let isHealthy = false
const from = new Date(Date.now() - 60_000)
const { certificate, key } = certify({
  commonName: lease, names: [address], uses: ['server'], from, until: new Date(from.getTime() + 86_400_000)
})
const health = createServer({ cert: certificate, key }, (_request, response) => {
  response.writeHead(isHealthy ? 200 : 500).end()
})
health.listen(Number(port), address)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => { process.exit(0) })
for (;;) {
  isHealthy = await elect().then(() => true, (error: unknown) => {
    console.error(error)
    return false
  })
  await sleep(500)
}
