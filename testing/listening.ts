/** A server with its listener on the loopback interface, ready to serve. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { LogController, type FastifyInstance } from 'fastify'
import { server as orch, type ServerOptions } from '../app.js'
import { newKeyPair } from '../auth/new-key.js'
import { selfSigned } from '../serving/certify.js'
import type { Endpoint } from './kubeconfig.js'
import type { Known } from './load.js'
import { loadedServer, type Whole } from '../plugins/shared/plugin.js'

export interface Listening extends Endpoint {
  /** The Fastify instance around the server, whose hooks run before the server's own. */
  readonly root: FastifyInstance
  /** The instance with the server's decorators. */
  readonly scope: Whole
}

const HOST = '127.0.0.1'

/** Shared by all servers of the process. */
let pair: ReturnType<typeof selfSigned> | undefined

/** Shared by all servers of the process: a fork accepts tokens of the original, and key generation costs only once. */
let signingKey: string | undefined
export const sharedSigningKey = (): string =>
  signingKey ??= newKeyPair().privateKey

/** Routes have no Fastify schemas: without its compilers the start is a fifth shorter. */
function noSchemas (): never {
  throw new Error('a route has a schema, but no schema compiler is set')
}

const OPTIONS = {
  logController: new LogController({ disableRequestLogging: true }),
  genReqId: () => '',
  routerOptions: { maxParamLength: 1000 },
  forceCloseConnections: true,
  return503OnClosing: false,
  schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } }
} as const

/**
 * @param port 0 for a free one
 * @param tls HTTP/2 and HTTP/1.1 over TLS, as a server of its own has it; otherwise plain HTTP/1.1
 * @param log writes warnings and errors to standard error
 * @param prepare registers hooks around the server
 */
export async function listening (
  options: ServerOptions, { port, tls, log }: { readonly port: number, readonly tls: boolean, readonly log: boolean },
  prepare: (root: FastifyInstance, known: () => Known) => void
): Promise<Listening> {
  const logger = log ? { level: 'warn', stream: process.stderr } : false
  if (tls) pair ??= selfSigned('localhost', ['localhost', HOST, '::1'], new Date())
  const root = tls && pair !== undefined
    // typed for another kind of server
    ? Fastify({
      ...OPTIONS, logger, http2: true, https: { allowHTTP1: true, cert: pair.certificate, key: pair.key }
    }) as unknown as FastifyInstance
    : Fastify({ ...OPTIONS, logger })
  let scope: FastifyInstance | undefined
  prepare(root, () => {
    const { orchResources: resources, orchSettings: { outside: { otherGroup } } } = loadedServer(scope)
    return { resources, otherGroup }
  })
  try {
    await root.register(async instance => {
      scope = instance
      await orch(instance, options)
    })
    await root.listen({ port, host: HOST })
    const loaded = loadedServer(scope)
    const { port: taken } = (root.server as Server).address() as AddressInfo // it listens
    while (!await loaded.orchHealth.ready()) await new Promise(resolve => { setImmediate(resolve) })
    return {
      root, scope: loaded, url: `${tls ? 'https' : 'http'}://${HOST}:${taken}`,
      certificateAuthority: tls ? pair?.certificate : undefined
    }
  } catch (error) {
    await root.close()
    throw error
  }
}
