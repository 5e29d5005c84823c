/** What another server's response means to the client. */
import type { IncomingMessage } from 'node:http'
import { StatusError, badRequest, type StatusReason } from '../../../schemas/status.js'

/** A redirect could send the client, with its credentials, to any server. */
export const isRedirect = ({ statusCode = 0, headers }: IncomingMessage): boolean => statusCode >= 300 &&
  statusCode < 400 && headers.location !== undefined
export const redirected = () =>
  new StatusError(undefined, 'the backend attempted to redirect this request, which is not permitted', { code: 502 })

/** Maximum bytes read from an error response. */
const MAX_ERROR_BYTES = 50_000
/** Milliseconds in which they must arrive; after that, what has come is the text. */
const ERROR_TIMEOUT = 10_000

async function textOf (answer: IncomingMessage, timeout: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const late = setTimeout(() => { answer.destroy() }, timeout)
  try {
    // leaving the loop early destroys the response and its connection
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_ERROR_BYTES) break
    }
  } catch {
    // the connection ended
  } finally {
    clearTimeout(late)
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString()
}

/** Messages for errors whose bodies are not passed to clients. */
const REASONS: ReadonlyMap<number, readonly [StatusReason, string]> = new Map([
  [401, ['Unauthorized', 'the server has asked for the client to provide credentials']],
  [404, ['NotFound', 'the server could not find the requested resource']],
  [405, ['MethodNotAllowed', 'the server does not allow this method on the requested resource']],
  [409, ['Conflict', 'the server reported a conflict']],
  [422, ['Invalid', 'the server rejected our request due to an error in our request']],
  [429, ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']],
  [503, ['ServiceUnavailable', 'the server is currently unable to handle the request']],
  [504, [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request'
  ]]
])

/** Converts a node agent's error response for a subresource (`pods/log`) of the named object. */
export async function failureOf (
  answer: IncomingMessage, kind: string, name: string, timeout = ERROR_TIMEOUT
): Promise<StatusError> {
  const code = answer.statusCode ?? 500
  const text = await textOf(answer, timeout)
  if (code === 500) {
    return new StatusError('InternalError', `Internal error occurred: ${text}`, {
      details: { causes: [{ message: text }] }
    })
  }
  if (code === 400) return badRequest(text)
  const [reason, words] = REASONS.get(code) ??
    (code === 403
      ? ['Forbidden' as const, text]
      : code > 500
        ? ['InternalError' as const,
          `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
          ]
        : [undefined, `the server responded with the status code ${code} but did not return more information`])
  return new StatusError(reason, `${words} ( ${kind} ${name})`, { code, details: { name, kind } })
}
