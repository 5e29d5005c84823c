/**
 * The admin API of `orch-apiserver dev`: JSON over plain HTTP, on the loopback interface only. Requests from web pages
 * are refused, also if a page reaches the API under another host name.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestServer } from '../contract.js'
import type { ExchangeMatch } from '../exchanges.js'
import type { InjectedFault } from '../faults.js'
import { duration, faultOf, matchOf, objectOf } from './input.js'

export interface Admin {
  readonly url: string
  readonly close: () => Promise<void>
}

type Action = (body: string, query: URLSearchParams, rest: string) => unknown

const MAX_BODY_BYTES = 16 * 1024 * 1024
const HOST = '127.0.0.1'
const HOSTS = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/

class Refused extends Error {
  constructor (readonly code: number, message: string) { super(message) }
}

/** The handlers, by method and path. */
function actions (
  { clock, exchanges, faults, load }: Pick<TestServer, 'clock' | 'exchanges' | 'faults' | 'load'>
): Readonly<Record<string, readonly [help: string, action: Action]>> {
  const injected = new Map<number, InjectedFault>()
  let id = 0
  const time = (): object => ({ now: clock.now().toISOString(), held: clock.held })
  return {
    'GET /clock': ['the time, and whether it is held', time],
    'POST /clock': ['{"hold": true}, {"run": true} or {"move": "1h30m"}', async body => {
      const { hold, run, move } = objectOf(body, ['hold', 'run', 'move'])
      if (hold === true) clock.hold()
      if (move !== undefined) await clock.move(duration(move))
      if (run === true) clock.run()
      return time()
    }],
    'GET /faults': ['those that are injected, and how often they were', () =>
      [...injected].map(([id, { count, fault }]) => ({ id, count, fault }))],
    'POST /faults': ['injects one: {"on": {"verb": "update"}, "status": 409, "times": 2}', body => {
      const fault = faults.add(faultOf(body))
      injected.set(++id, fault)
      return { id }
    }],
    'DELETE /faults': ['removes all, or one: /faults/ID', (_body, _query, rest) => {
      const indexes = rest === '' ? [...injected.keys()] : [Number(rest)]
      for (const index of indexes) {
        const fault = injected.get(index)
        if (fault === undefined) throw new Refused(404, `there is no fault ${rest}`)
        fault.remove()
        injected.delete(index)
      }
      return { removed: indexes.length }
    }],
    'POST /drop-watches': ['breaks the connections of open watches that match: {"resource": "pods"}', body =>
      ({ dropped: faults.dropWatches(matchOf(objectOf(body === '' ? '{}' : body))) })],
    'GET /exchanges':
      ['what clients asked and got, by members of the query: ?verb=create&status=201', (_body, query) => {
        const { status, ...match } = Object.fromEntries(query)
        const wanted: ExchangeMatch = { ...matchOf(match), ...status === undefined ? {} : { status: Number(status) } }
        return exchanges.find(wanted).map(exchange => ({ ...exchange }))
      }],
    'DELETE /exchanges': ['forgets them', () => {
      exchanges.clear()
      return {}
    }],
    'POST /fixtures': ['loads objects, in YAML or JSON', async body => {
      await load(body.includes('\n') ? body : `${body}\n`)
      return {}
    }]
  }
}

/** @param port 0 for a free one */
export async function openAdmin (server: TestServer, port: number): Promise<Admin> {
  const offered = actions({
    clock: server.clock, exchanges: server.exchanges, faults: server.faults, load: fixtures => server.load(fixtures)
  })
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const { method = '', headers: { host = '', origin } } = request
    if (!HOSTS.test(host) || origin !== undefined) {
      throw new Refused(403, 'the admin API is for programs on this machine, not for pages of a browser')
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${HOST}`)
    const [, first = '', rest = ''] = /^(\/[^/]*)\/?(.*)$/.exec(pathname) ?? []
    if (method === 'GET' && pathname === '/') {
      return Object.fromEntries(Object.entries(offered).map(([name, [help]]) => [name, help]))
    }
    const [, action] = (Object.hasOwn(offered, `${method} ${first}`) ? offered[`${method} ${first}`] : undefined) ?? []
    if (action === undefined || (rest !== '' && `${method} ${first}` !== 'DELETE /faults')) {
      throw new Refused(404, 'GET / says what there is')
    }
    const body = await bodyOf(request)
    return await action(body, searchParams, rest)
  }
  const http = createServer((request, response) => {
    const send = (code: number, value: unknown): void => {
      response.writeHead(code, {
        'content-type': 'application/json', 'cache-control': 'no-store', ...code >= 400 ? { connection: 'close' } : {}
      })
        .end(`${JSON.stringify(value)}\n`)
    }
    answer(request).then(value => { send(200, value) }, (error: Error) => {
      send(error instanceof Refused ? error.code : 400, { error: error.message })
    })
  })
  await listen(http, port)
  const { port: taken } = http.address() as AddressInfo // set while it listens
  return {
    url: `http://${HOST}:${taken}`,
    close: async () => {
      const closed = new Promise(resolve => { http.close(resolve) })
      http.closeAllConnections()
      await closed
    }
  }
}

const listen = async (http: Server, port: number): Promise<void> => {
  await new Promise<void>((resolve, reject) => { http.once('error', reject).listen(port, HOST, resolve) })
}

async function bodyOf (request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) throw new Refused(413, `the body has more than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
