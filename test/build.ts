/** Servers for tests: in memory, closed with the test; over inject, or listening where a stream is needed. */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import Fastify from './fastify.js'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import orch, { type ServerOptions } from '../app.js'
import { CATALOGUE } from '../admission/catalogue.js'
import { freezeShared } from '../storage/cache/shared.js'
import { polled } from './polled.js'

freezeShared('everything')

/** The part of tap's test object that is needed here. */
export interface Test { teardown: (fn: () => unknown) => void }

/** Off in the second run of conformance/. */
const DEFAULT_PLUGINS = CATALOGUE.filter(plugin => plugin.default).map(({ name }) => name)

export const BINDINGS = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
export const TABLE = 'application/json;as=Table;g=meta.orch.io;v=v1'
export const PROTOBUF = 'application/vnd.orch.protobuf'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
export interface Json { [name: string]: any }

export interface Answer {
  readonly code: number
  readonly json: Json
  readonly body: string
  readonly raw: Buffer
  readonly headers: LightMyRequestResponse['headers']
}

export interface Client {
  readonly app: FastifyInstance
  call: (method: string, url: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
  get: (url: string, headers?: Record<string, string>) => Promise<Answer>
  post: (url: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>
  put: (url: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>
  patch: (url: string, body: unknown, type?: string) => Promise<Answer>
  delete: (url: string, body?: unknown) => Promise<Answer>
}

const parsed = (body: string): Json => {
  try {
    return JSON.parse(body) as Json
  } catch {
    return {}
  }
}

/** A string or Buffer is sent as it is, anything else as JSON. */
export function client (app: FastifyInstance): Client {
  const call: Client['call'] = async (method, url, body, headers = {}) => {
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const answer = await app.inject({
      method: method as 'GET', url, ...(payload === undefined ? {} : { payload }),
      headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...headers }
    })
    let json: Json | undefined // parsed when read: many answers are large, and only their code counts
    return {
      code: answer.statusCode, get json () { return json ??= parsed(answer.body) }, body: answer.body,
      raw: answer.rawPayload, headers: answer.headers
    }
  }
  return {
    app,
    call,
    get: (url, headers) => call('GET', url, undefined, headers),
    post: (url, body, headers) => call('POST', url, body, headers),
    put: (url, body, headers) => call('PUT', url, body, headers),
    patch: (url, body, type = 'application/merge-patch+json') => call('PATCH', url, body, { 'content-type': type }),
    delete: (url, body) => call('DELETE', url, body)
  }
}

/** A server in memory, ready to serve. */
export async function build (t: Test, options: ServerOptions = {}): Promise<Client> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(orch, {
    ...options,
    ...(process.env['ORCH_TEST_ADMISSION'] === 'none'
      ? { admission: { disabled: DEFAULT_PLUGINS, ...options.admission } }
      : {})
  })
  await app.ready()
  const made = client(app)
  await polled(async () => (await made.get('/readyz')).code === 200)
  return made
}

export interface Listening extends Client { readonly url: string, readonly port: number }

/** The same, listening on a free port of the loopback interface, without TLS. */
export async function listen (t: Test, options: ServerOptions = {}): Promise<Listening> {
  const made = await build(t, options)
  const url = await made.app.listen({ port: 0, host: '127.0.0.1' })
  return { ...made, url, port: Number(new URL(url).port) }
}

export interface Event { type: string, object: Json }

/** A watch over a real connection. */
export class Watch {
  readonly response: IncomingMessage
  readonly events: Event[] = []
  ended = false
  #text = ''
  #wake: (() => void) | undefined

  private constructor (response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      const lines = (this.#text + text).split('\n')
      this.#text = lines.pop() ?? ''
      for (const line of lines) this.events.push(JSON.parse(line) as Event)
      this.#wake?.()
    })
    response.on('close', () => {
      this.ended = true
      this.#wake?.()
    })
    response.on('error', () => {})
  }

  static async open (t: Test, url: string, headers: Record<string, string> = {}): Promise<Watch> {
    const request = httpRequest(url, { headers, agent: false })
    t.teardown(() => { request.destroy() })
    request.on('error', () => {})
    request.end()
    const [response] = await once(request, 'response') as [IncomingMessage]
    return new Watch(response)
  }

  get code (): number { return this.response.statusCode ?? 0 }

  /** Waits for the first `count` events. */
  async take (count: number): Promise<Event[]> {
    await this.until(() => this.events.length >= count)
    return this.events.slice(0, count)
  }

  async until (done: () => boolean): Promise<void> {
    while (!done()) {
      if (this.ended) {
        throw new Error(`the watch ended after ${this.events.length} events: ${JSON.stringify(this.events.at(-1))}`)
      }
      await new Promise<void>(resolve => { this.#wake = resolve })
    }
  }

  async end (): Promise<void> {
    while (!this.ended) await new Promise<void>(resolve => { this.#wake = resolve })
  }

  close (): void { this.response.destroy() }
}

export const types = (events: readonly Event[]): string[] =>
  events.map(({ type, object }) => `${type} ${String(object.metadata?.name ?? object.reason ?? '')}`)

export function binding (name: string, more: Json = {}): Json {
  return {
    apiVersion: 'rbac.authorization.orch.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name, ...more.metadata },
    subjects: more.subjects ?? [{ kind: 'User', name: 'ann' }],
    roleRef: more.roleRef ?? { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
  }
}
