/**
 * A service over TLS that reviews requests of our server, and the kubeconfig that names it, with `ca.crt` beside it.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Json, Test } from './build.js'
import { authority } from './serving/authority.js'

const ca = authority()
export const CA = ca.certificate
const pair = ca.issue({ commonName: 'reviewer', names: ['localhost'], uses: ['server'] })

export interface Reviewer {
  readonly port: number
  /** Received reviews. */
  readonly asked: Json[]
  /** Gives the responses from now on; objects are sent as JSON. */
  answer: (review: Json, reply: ServerResponse, request: IncomingMessage) => object | undefined
}

export async function reviewer (t: Test, answer: Reviewer['answer']): Promise<Reviewer> {
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, reply) => {
    let text = ''
    request.setEncoding('utf8').on('data', (more: string) => { text += more }).on('end', () => {
      const review = (text === '' ? {} : JSON.parse(text)) as Json
      self.asked.push(review)
      const status = self.answer(review, reply, request)
      if (status !== undefined) {
        reply.setHeader('content-type', 'application/json')
        reply.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, status }))
      }
    })
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const self: Reviewer = { port: (server.address() as AddressInfo).port, asked: [], answer }
  return self
}

export const kubeconfig = (port: number, server = `https://localhost:${port}/review`): string => JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'webhook',
  clusters: [{ name: 'reviewer', cluster: { server, 'certificate-authority': 'ca.crt' } }],
  users: [{ name: 'apiserver', user: { token: 'own-secret' } }],
  contexts: [{ name: 'webhook', context: { cluster: 'reviewer', user: 'apiserver' } }]
})
