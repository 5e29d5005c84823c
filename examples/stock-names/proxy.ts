/**
 * For clients that were built with the public project's names: a proxy on this machine that speaks those to them and ours to the server.
 * README.md says what it is for and what it is not; `cli.ts` is the command.
 */
import { type IncomingMessage, type RequestListener, request as requestHttp, type ServerResponse } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { pipeline, Readable } from 'node:stream'
import { isDecodeError } from '../../schemas/public.js'
import { renamePath, TO_OURS, TO_PUBLIC } from './names.js'
import { jsonOf } from './protobuf.js'
import { RenamedJson } from './renamed-json.js'

/** About one connection alone, or about bytes that will be others. */
const NOT_PASSED = ['accept-encoding', 'connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']
const JSON_BODY = /^application\/(?:(?:[\w.-]+\+)?json|apply-patch\+yaml)\b/
const PROTOBUF_BODY = /^application\/vnd\.kubernetes\.protobuf\b/

const passed = ({ headersDistinct }: IncomingMessage): Record<string, string[] | undefined> =>
  Object.fromEntries(Object.entries(headersDistinct).filter(([name]) => !NOT_PASSED.includes(name)))

/** Without the forms that are not translated; tables and metadata are JSON. */
const acceptJson = (accept = '*/*'): string =>
  accept.split(',').map(type => type.trim()).filter(type => !/^application\/(?!json\b)/.test(type)).join(',') || 'application/json'

function refuse (answer: ServerResponse, code: number, reason: string, message: string): void {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  answer.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status))
}

/** @param ca the authority of the server, where that is none that everybody knows */
export function stockNames (server: URL, ca?: string): RequestListener {
  const [request, agent] = server.protocol === 'https:' ? [requestHttps, new Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) })] : [requestHttp, undefined]
  return (incoming, answer) => {
    const { method, url = '/', headers } = incoming
    const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
    const type = headers['content-type'] ?? 'application/json'
    const protobuf = PROTOBUF_BODY.test(type)
    if (hasBody && !protobuf && !JSON_BODY.test(type)) {
      incoming.resume()
      refuse(answer, 415, 'UnsupportedMediaType', `bodies of ${type} are not translated, send JSON`)
      return
    }
    // This document is read as protobuf alone. Of groups that clients do not find there they check nothing.
    const accept = url.startsWith('/openapi/v2') ? headers.accept : acceptJson(headers.accept)
    const onward = request(server, {
      method, agent, path: server.pathname.replace(/\/$/, '') + renamePath(url, TO_OURS),
      headers: { ...passed(incoming), ...(accept === undefined ? {} : { accept }), ...(hasBody ? { 'transfer-encoding': 'chunked', 'content-type': protobuf ? 'application/json' : type } : {}) }
    })
    onward.on('response', came => {
      answer.writeHead(came.statusCode ?? 502, passed(came)).flushHeaders()
      const translated = came.headers['content-type']?.startsWith('application/json') === true
      if (translated) pipeline(came, new RenamedJson(TO_PUBLIC), answer, () => {})
      else pipeline(came, answer, () => {})
    })
    const failed = (error: Error): void => {
      onward.destroy()
      incoming.unpipe()
      incoming.resume()
      if (answer.headersSent) return
      const { message } = error
      if (isDecodeError(error)) refuse(answer, 400, 'BadRequest', message)
      else refuse(answer, 502, 'ServiceUnavailable', `the server cannot be reached: ${message}`)
    }
    onward.on('error', failed)
    answer.on('close', () => { if (!answer.writableFinished) onward.destroy() })
    const body = protobuf ? Readable.from(jsonOf(incoming)).on('error', failed) : incoming
    if (hasBody) body.pipe(new RenamedJson(TO_OURS)).on('error', failed).pipe(onward)
    else onward.end()
  }
}
