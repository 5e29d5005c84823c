/**
 * The pages of `/debug/` on a Unix socket, for users who may open it: without TLS and authentication, and also while
 * the secure port is overloaded. @see `--debug-socket-path`
 */
import { randomBytes } from 'node:crypto'
import { chmod, lstat, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Fastify, { LogController, type FastifyInstance } from 'fastify'
import { StatusError } from '../../schemas/status.js'
import { debugFlags } from './flags.js'
import type { Pages } from './pages.js'

export interface SocketOptions {
  readonly path: string
  readonly pages: Pages
  readonly setVerbosity: ((v: number) => void) | undefined
}

/**
 * Listens until the server closes. Replaces the socket of an earlier process, which may still be ending, but no file of
 * another kind. It gets its name when only its owner can open it; at the end that name goes unless it is another's.
 */
export async function serveSocket (
  server: FastifyInstance, { path, pages, setVerbosity }: SocketOptions
): Promise<void> {
  const there = await lstat(path).catch(() => undefined)
  if (there !== undefined && !there.isSocket()) {
    throw new Error(`--debug-socket-path: ${path} is there and is no socket; name another path`)
  }
  const own = join(dirname(path), `.${randomBytes(4).toString('hex')}`)
  const instance = Fastify({
    loggerInstance: server.log, forceCloseConnections: true,
    logController: new LogController({ disableRequestLogging: true })
  })
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 64 }, (_request, body, done) => {
    done(null, body)
  })
  instance.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const code = error instanceof StatusError ? error.status.code : error.statusCode ?? 500
    reply.code(code).type('text/plain; charset=utf-8').send(`${error.message}\n`)
  })
  pages.register(instance, ({ query, raw }) => {
    const { seconds } = query as { readonly seconds?: string | string[] } // as Fastify's parser reads it
    const left = new AbortController()
    raw.once('close', () => { if (raw.destroyed) left.abort() })
    return { seconds: typeof seconds === 'string' ? seconds : null, signal: left.signal }
  })
  if (setVerbosity !== undefined) debugFlags(instance, setVerbosity)
  try {
    await instance.listen({ path: own, listenTextResolver: () => `profiles at ${path}` })
    await chmod(own, 0o600)
    await rename(own, path)
  } catch (error) {
    await instance.close()
    throw new Error(`--debug-socket-path: ${path} cannot be listened on`, { cause: error })
  }
  const { ino } = await lstat(path)
  server.addHook('onClose', async () => {
    await instance.close()
    if ((await lstat(path).catch(() => undefined))?.ino === ino) await rm(path, { force: true })
  })
}
