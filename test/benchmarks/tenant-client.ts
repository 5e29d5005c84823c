/** Sends the shapes of `tenant-shapes.ts`, in their media types. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { TOKEN } from './process.js'
import type { Call } from './tenant-shapes.js'

const agent = new Agent({ keepAlive: true })

/** The status code, once the whole response has arrived. Refusals count as responses. */
export async function send (port: number, { method, path, type = 'application/json', accept = 'application/json', body }: Call): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, accept, ...body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) } }
  const sent = request({ port, host: '127.0.0.1', agent, method, path, headers, rejectUnauthorized: false })
  sent.end(body)
  const [answer] = await once(sent, 'response') as [IncomingMessage]
  await once(answer.resume(), 'end')
  const { statusCode = 0 } = answer
  if (statusCode >= 500) throw new Error(`${method} ${path} answered ${statusCode}`)
  return statusCode
}
