/**
 * An extension server on Fastify and this package's schemas: gadgets of shop.example.com/v1. It trusts the X-Remote
 * headers of clients with the aggregator's certificate, and refuses all others.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applyDefaults, decode, fromStructural, parseJson, toJson, validateMessage } from '../../../schemas/public.js'
import { tableColumns, tableRow } from '../../../schemas/table.js'
import { text, name as nameColumn } from '../../../schemas/columns.js'
import { swaggerJson, whole } from '../../../schemas/openapi/v2.js'
import { documentJson, OpenApi3 } from '../../../schemas/openapi/v3.js'
import { finish } from '../../../schemas/steps.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { resource } from '../../../schemas/resource.js'
import Fastify from '../../fastify.js'
import type { Client, Json, Test } from '../../build.js'
import { authority } from '../../serving/authority.js'

const servers = authority('authority of extension servers')
export const caBundle = Buffer.from(servers.certificate).toString('base64')
export const serverPair = servers.issue({
  commonName: 'shop', names: ['shop.default.svc', 'localhost'], uses: ['server']
})
export const namelessPair = servers.issue({ commonName: 'shop.default.svc', names: [], uses: ['server'] })
const proxies = authority('authority of aggregators')
export const PROXY_CA = proxies.certificate
export const proxyPair = proxies.issue({ commonName: 'aggregator', uses: ['client'], names: [] })
export const outbound = { client: { certificate: { data: proxyPair.certificate }, key: { data: proxyPair.key } } }

export const GROUP = 'shop.example.com'
export const ROOT = `/apis/${GROUP}/v1`
export const GADGETS = `${ROOT}/namespaces/default/gadgets`
export const SERVICES = '/apis/apiregistration.orch.io/v1/apiservices'

const declaration = fromStructural({ group: GROUP, version: 'v1', kind: 'Gadget' }, {
  type: 'object',
  description: 'Something that is sold.',
  properties: {
    spec: {
      type: 'object',
      required: ['price'],
      properties: {
        price: { type: 'integer', minimum: 1, description: 'In cents.' }, colour: { type: 'string', default: 'red' }
      }
    }
  }
})
const gadgets = resource(declaration, {
  plural: 'gadgets',
  shortNames: ['gd'],
  namespaced: true,
  protobuf: false,
  storagePrefix: 'gadgets',
  columns: [
    nameColumn, text('Price', 'In cents.', (object: ApiObject) => String((object as Json & ApiObject)['spec']?.price))
  ]
})
const INFO = { version: 'v1' }

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly certificate: string
}

export interface ExtensionServer {
  readonly port: number
  readonly asked: Asked[]
  /** Numbers of open connections and of all connections so far. */
  readonly connections: () => { readonly open: number, readonly all: number }
  /** Responds in place of the server if it returns true. */
  instead: (request: FastifyRequest, raw: ServerResponse) => boolean
  readonly upgrade: { handle: ((socket: Socket, headers: IncomingHttpHeaders) => void) | undefined }
  readonly watches: () => number
  readonly close: () => void
}

interface Stored extends ApiObject { metadata: ApiObject['metadata'] & { name: string } }

class Shop {
  readonly objects = new Map<string, Stored>()
  readonly watches = new Set<(type: string, object: Stored) => void>()
  revision = 1

  write (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Stored): Stored {
    object.metadata.resourceVersion = String(++this.revision)
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`
    if (type === 'DELETED') this.objects.delete(key)
    else this.objects.set(key, object)
    for (const watch of this.watches) watch(type, object)
    return object
  }
}

const status = (reply: FastifyReply, code: number, reason: string, message: string) =>
  reply.code(code).send({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, message, code })

function tabular (request: FastifyRequest, objects: Stored[], metadata: Json): Json | undefined {
  const group = /as=Table;(?:v=v1;)?g=([^;,]+)/.exec(request.headers.accept ?? '')?.[1]
  if (group === undefined) return undefined
  const rows = objects.map(object => ({ ...tableRow(gadgets.stored, object, Date.now()), object }))
  return { kind: 'Table', apiVersion: `${group}/v1`, metadata, columnDefinitions: tableColumns(gadgets.stored), rows }
}

/** @param certificate of the server */
export async function extensionServer (t: Test, { certificate = serverPair } = {}): Promise<ExtensionServer> {
  const shop = new Shop()
  const open = new Set<Socket>()
  let all = 0
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    serverFactory: handler => createServer(
      {
        cert: certificate.certificate,
        key: certificate.key,
        ca: proxies.certificate,
        requestCert: true,
        rejectUnauthorized: false
      },
      handler
    )
  })
  app.server.on('secureConnection', (socket: Socket) => {
    all++
    open.add(socket)
    socket.once('close', () => { open.delete(socket) })
  })
  app.server.on('upgrade', (request, socket: Socket) => {
    self.asked.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: '',
      certificate: String((socket as TLSSocket).getPeerCertificate()?.subject?.CN)
    })
    socket.on('error', () => {})
    if (self.upgrade.handle === undefined) socket.destroy()
    else self.upgrade.handle(socket, request.headers)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => { done(null, body) })

  app.addHook('preHandler', async (request, reply) => {
    const socket = request.raw.socket as TLSSocket
    self.asked.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: typeof request.body === 'string' ? request.body : '',
      certificate: String(socket.getPeerCertificate()?.subject?.CN)
    })
    if (self.instead(request, reply.raw)) return reply.hijack()
    if (!socket.authorized || request.headers['x-remote-user'] === undefined) {
      return await status(reply, 401, 'Unauthorized', 'Unauthorized')
    }
  })

  const versions = [{ groupVersion: `${GROUP}/v1`, version: 'v1' }]
  app.get(ROOT, async () => ({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${GROUP}/v1`,
    resources: [
      {
        name: 'gadgets',
        singularName: 'gadget',
        namespaced: true,
        kind: 'Gadget',
        verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
        shortNames: ['gd']
      }
    ]
  }))
  app.get('/apis', async () => ({
    kind: 'APIGroupList', apiVersion: 'v1', groups: [{ name: GROUP, versions, preferredVersion: versions[0] }]
  }))

  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const { namespace } = request.params as { namespace?: string }
    const { watch, fieldSelector = '', resourceVersion = '' } = request.query as Partial<Record<string, string>>
    const named = /metadata\.name=([^,]+)/.exec(fieldSelector)?.[1]
    const matches = ({ metadata }: Stored): boolean =>
      (namespace === undefined || metadata.namespace === namespace) && (named === undefined || metadata.name === named)
    const items = [...shop.objects.values()].filter(matches)
    if (watch !== 'true' && watch !== '1') {
      return tabular(request, items, { resourceVersion: String(shop.revision) }) ??
        { kind: 'GadgetList', apiVersion: `${GROUP}/v1`, metadata: { resourceVersion: String(shop.revision) }, items }
    }
    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, { 'content-type': 'application/json' })
    raw.flushHeaders()
    const send = (type: string, object: Stored): void => {
      if (matches(object)) raw.write(`${JSON.stringify({ type, object: tabular(request, [object], {}) ?? object })}\n`)
    }
    if (resourceVersion === '' || resourceVersion === '0') for (const object of items) send('ADDED', object)
    else {
      for (const object of items) {
        if (Number(object.metadata.resourceVersion) > Number(resourceVersion)) send('ADDED', object)
      }
    }
    shop.watches.add(send)
    raw.once('close', () => { shop.watches.delete(send) })
    return reply
  }
  app.get(`${ROOT}/gadgets`, list)
  app.get(`${ROOT}/namespaces/:namespace/gadgets`, list)

  const ofRequest = (request: FastifyRequest): Stored | undefined => {
    const { namespace, name } = request.params as { namespace: string, name: string }
    return shop.objects.get(`${namespace}/${name}`)
  }
  const missing = (reply: FastifyReply) => status(reply, 404, 'NotFound', 'gadgets.shop.example.com not found')
  const decoded = (request: FastifyRequest): Stored => {
    const { object } = decode(declaration, parseJson(Buffer.from(request.body as string)).value)
    applyDefaults(declaration, object)
    return object as Stored
  }
  app.post(`${ROOT}/namespaces/:namespace/gadgets`, async (request, reply) => {
    const object = decoded(request)
    if (validateMessage(declaration, object).length > 0 || (object as Json & Stored)['spec']?.price < 1) {
      return await status(reply, 422, 'Invalid', 'spec.price')
    }
    const { namespace } = request.params as { namespace: string }
    Object.assign(object.metadata, {
      namespace, uid: randomUUID(), creationTimestamp: new Date().toISOString().replace(/\.\d+/, '')
    })
    return await reply.code(201).type('application/json').send(toJson(declaration, shop.write('ADDED', object)))
  })
  app.get(`${ROOT}/namespaces/:namespace/gadgets/:name`, async (request, reply) => {
    const found = ofRequest(request)
    return found === undefined ? await missing(reply) : tabular(request, [found], {}) ?? found
  })
  app.put(`${ROOT}/namespaces/:namespace/gadgets/:name`, async (request, reply) => ofRequest(request) === undefined
    ? await missing(reply)
    : shop.write('MODIFIED', { ...ofRequest(request), ...decoded(request) }))
  app.delete(`${ROOT}/namespaces/:namespace/gadgets/:name`, async (request, reply) => {
    const found = ofRequest(request)
    return found === undefined ? await missing(reply) : shop.write('DELETED', found)
  })

  const v2 = whole(swaggerJson([gadgets.stored], INFO))
  const v3 = new OpenApi3([gadgets.stored], INFO)
  app.get('/openapi/v2', async (request, reply) => request.headers['if-none-match'] === '"2"'
    ? await reply.code(304).send()
    : await reply.header('etag', '"2"').type('application/json').send(v2))
  app.get('/openapi/v3', async () => ({
    paths: Object.fromEntries(v3.names.map(name => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=1` }]))
  }))
  app.get('/openapi/v3/*', async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    return await reply.type('application/json').send(v3.has(name) ? documentJson(finish(v3.parts(name))) : undefined)
  })

  const self: ExtensionServer = {
    port: 0,
    asked: [],
    connections: () => ({ open: open.size, all }),
    instead: () => false,
    upgrade: { handle: undefined },
    watches: () => shop.watches.size,
    close: () => {
      app.server.close()
      for (const socket of open) socket.destroy()
    }
  }
  t.teardown(async () => {
    for (const socket of open) socket.destroy()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return Object.assign(self, { port: (app.server.address() as AddressInfo).port })
}

/** A service that leads to a port of this machine. */
export async function service (server: Pick<Client, 'post'>, name: string, port: number): Promise<void> {
  const url = '/api/v1/namespaces/default/services'
  const { code, body } = await server.post(url, {
    metadata: { name }, spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] }
  })
  if (code !== 201 && code !== 409) throw new Error(body)
}

/** An APIService of shop.example.com/v1 unless `spec` says otherwise. */
export function apiService (port: number, spec: Json = {}): Json {
  const whole = {
    group: GROUP,
    version: 'v1',
    groupPriorityMinimum: 1500,
    versionPriority: 10,
    caBundle,
    service: { namespace: 'default', name: 'shop', port },
    ...spec
  }
  return {
    apiVersion: 'apiregistration.orch.io/v1',
    kind: 'APIService',
    metadata: { name: `${whole.version as string}.${whole.group}` },
    spec: whole
  }
}

export const available = ({ status }: Json): Json | undefined =>
  status?.conditions?.find((one: Json) => one['type'] === 'Available')

/** Creates the APIService with its service, and waits until it is checked. Resolves to its condition. */
export async function register (server: Client, port: number, spec: Json = {}): Promise<Json> {
  await service(server, 'shop', port)
  const made = apiService(port, spec)
  const { code, body } = await server.post(SERVICES, made)
  if (code !== 201) throw new Error(body)
  return await conditionOf(server, made['metadata'].name as string)
}

export async function conditionOf (
  server: Client, name: string, holds: (found: Json) => boolean = () => true
): Promise<Json> {
  for (;;) {
    const found = available((await server.get(`${SERVICES}/${name}`)).json)
    if (found !== undefined && holds(found)) return found
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
}

/** Resolves when a server is closed for good. */
export const closed = async (server: { readonly listening: boolean } & NodeJS.EventEmitter): Promise<void> => {
  if (server.listening) await once(server, 'close')
}
