/** Webhooks over TLS with real certificates, and the configurations that name them. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Client, Json, Test } from '../../build.js'
import { authority } from '../../serving/authority.js'

const ca = authority('authority of hooks')
export const CA = ca.certificate
export const caBundle = Buffer.from(ca.certificate).toString('base64')
const pair = ca.issue({ commonName: 'hook', names: ['localhost', 'hook.default.svc', '127.0.0.1'], uses: ['server'] })
const clients = authority('authority of callers')
export const clientPair = clients.issue({ commonName: 'apiserver', names: [], uses: ['client'] })

export interface Asked extends Json {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** Common name of the client's certificate. */
  readonly caller: string
}

/**
 * @returns the response, which gets the request's uid if it has none; undefined if the function has already answered
 */
export type Answer = (
  review: Json, reply: ServerResponse, request: IncomingMessage
) => Json | undefined | Promise<Json | undefined>

export interface HookServer {
  readonly port: number
  readonly url: string
  /** Received reviews, with their connections and headers. */
  readonly asked: Asked[]
  /** Number of connections made to it. */
  readonly connections: () => number
  answer: Answer
}

export const allow: Answer = () => ({ allowed: true })
export const deny = (status?: Json): Answer => () => ({ allowed: false, ...(status === undefined ? {} : { status }) })
export const patching = (...operations: Json[]): Answer => () => ({
  allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64')
})

export async function hookServer (t: Test, answer: Answer = allow): Promise<HookServer> {
  let connections = 0
  const server = createServer({
    cert: pair.certificate, key: pair.key, requestCert: true, rejectUnauthorized: false, ca: clients.certificate
  }, (request, reply) => {
    let text = ''
    request.on('error', () => {})
    reply.on('error', () => {})
    request.setEncoding('utf8').on('data', (more: string) => { text += more }).on('end', () => {
      const review = JSON.parse(text) as Json
      self.asked.push({
        ...review,
        path: request.url ?? '',
        headers: request.headers,
        caller: String((request.socket as TLSSocket).getPeerCertificate()?.subject?.CN)
      })
      Promise.resolve(self.answer(review, reply, request)).then(response => {
        if (response === undefined) return
        const { apiVersion, kind, request: { uid } } = review
        reply.setHeader('content-type', 'application/json')
        reply.end(JSON.stringify({ apiVersion, kind, response: { uid, ...response } }))
      }, () => { reply.destroy() })
    })
  })
  server.on('secureConnection', () => { connections++ })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const self: HookServer = {
    port, url: `https://127.0.0.1:${port}/hook`, asked: [], connections: () => connections, answer
  }
  return self
}

export const GROUP = '/apis/admissionregistration.orch.io/v1'
export const MUTATING = `${GROUP}/mutatingwebhookconfigurations`
export const VALIDATING = `${GROUP}/validatingwebhookconfigurations`
export const CONFIGS = '/api/v1/namespaces/default/configmaps'
export const ON_CONFIGS = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

/** A webhook for creates of config maps, unless `more` has other rules. */
export const webhook = (name: string, { url }: Pick<HookServer, 'url'>, more: Json = {}): Json =>
  ({
    name: `${name}.example.com`,
    clientConfig: { url, caBundle },
    rules: [ON_CONFIGS],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more
  })

/** Creates a configuration of these webhooks, effective from the next request on. */
export async function configure (
  server: Pick<Client, 'post'>, path: string, name: string, ...webhooks: Json[]
): Promise<void> {
  const { code, json } = await server.post(path, { metadata: { name }, webhooks })
  if (code !== 201) throw new Error(`${name}: ${code} ${JSON.stringify(json)}`)
}
