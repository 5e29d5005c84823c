/** Sends the shapes of `tenant-shapes.ts`, in their media types. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { TOKEN } from './process.js'
import { TABLE, type Call } from './tenant-shapes.js'

const agent = new Agent({ keepAlive: true })

/** The status code, once the whole response has arrived. Refusals count as responses. */
export async function send (
  port: number, { method, path, type = 'application/json', accept = 'application/json', body, as }: Call
): Promise<number> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    accept,
    ...as === undefined ? {} : { 'impersonate-user': as },
    ...body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }
  }
  const sent = request({ port, host: '127.0.0.1', agent, method, path, headers, rejectUnauthorized: false })
  sent.end(body)
  const [answer] = await once(sent, 'response') as [IncomingMessage]
  await once(answer.resume(), 'end')
  const { statusCode = 0 } = answer
  if (statusCode >= 500) throw new Error(`${method} ${path} answered ${statusCode}`)
  return statusCode
}

/** Sends what others depend on; the resource of a definition may be served a moment later. */
export async function prepare (port: number, calls: readonly Call[]): Promise<void> {
  for (const call of calls) {
    for (let tries = 0; await send(port, call) === NOT_FOUND && tries < 200; tries++) {
      await new Promise(resolve => { setTimeout(resolve, 20) })
    }
  }
}

const NOT_FOUND = 404

/** Watches of a collection as Tables. */
export interface TableWatches {
  /** Resolves when none has received anything for some time. */
  readonly quiet: () => Promise<void>
  readonly end: () => void
}

/** @param pause milliseconds without bytes until they are quiet */
export async function watchTables (port: number, path: string, count: number, pause: number): Promise<TableWatches> {
  let received = 0
  const watches = await Promise.all(Array.from({ length: count }, async () => {
    const sent = request({
      port,
      host: '127.0.0.1',
      agent: false,
      path: `${path}?watch=1`,
      headers: { authorization: `Bearer ${TOKEN}`, accept: TABLE },
      rejectUnauthorized: false
    })
    sent.end()
    const [answer] = await once(sent, 'response') as [IncomingMessage]
    answer.on('error', () => {}).on('data', (bytes: Uint8Array) => { received += bytes.length })
    return sent
  }))
  const quiet = async (): Promise<void> => {
    for (let before = -1; before !== received; await new Promise(resolve => { setTimeout(resolve, pause) })) {
      before = received
    }
  }
  return { quiet, end: () => { for (const one of watches) one.destroy() } }
}
