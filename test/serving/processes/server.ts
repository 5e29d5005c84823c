/** A server of several processes, and clients with distinguishable connections. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { launchApart, TOKEN, type Apart } from '../../benchmarks/process.js'
import { polled } from '../../polled.js'

export const CONFIGS = '/api/v1/namespaces/default/configmaps'

export interface Several extends Apart {
  readonly count: number
  /** Everything on standard error so far. */
  readonly log: () => string
  /** Process ids of the supervisor's children. */
  readonly children: () => number[]
  /** The process id of `1` or `store`; 0 if there is none at the moment. */
  readonly pidOf: (name: string) => number
  readonly exit: Promise<number | null>
}

interface Teardown { teardown: (end: () => unknown) => void }

/** Resolves when all processes serve. */
export async function several (
  t: Teardown, count: number, flags: readonly string[] = [], folder?: string, node: readonly string[] = []
): Promise<Several> {
  let log = ''
  const server = await launchApart([`--serving-processes=${count}`, ...flags], folder, node)
  server.process.stderr?.on('data', (text: Buffer) => { log += text.toString() })
  const exit = new Promise<number | null>(resolve => { server.process.once('exit', resolve) })
  t.teardown(folder === undefined ? server.stop : server.kill)
  const children = (): number[] => childrenOf(server.process.pid ?? 0)
  const found = {
    ...server,
    count,
    log: () => log,
    children,
    pidOf: (name: string) => children().find(pid => nameOf(pid) === name) ?? 0,
    exit
  }
  await eventually('all processes serve', async () => await processesIn(server.port) === count)
  return found
}

function nameOf (pid: number): string | undefined {
  try {
    return /\0ORCH_PROCESS=([a-z\d]+)/.exec(`\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`)?.[1]
  } catch {
    return undefined // it has ended
  }
}

function childrenOf (pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map(Number)
}

export async function eventually (what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await polled(holds, what, 60_000)
}

/** Number of serving processes that report metrics. */
export async function processesIn (port: number): Promise<number> {
  const answer = await ask(port, 'GET', '/metrics')
  return answer?.text.match(/^process_start_time_seconds\{process="\d+"\} /gm)?.length ?? 0
}

/** The sum of all series of a metric. */
export const total = (metrics: string, series: RegExp): number =>
  [...metrics.matchAll(series)].reduce((sum, [line]) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)

export interface Answer { readonly code: number, readonly text: string }

/** The response, undefined if the connection broke before it was complete. Without an agent, on a new connection. */
export function ask (
  port: number, method: string, path: string, body?: string, agent: Agent | false = false,
  headers: Record<string, string> = {}
): Promise<Answer | undefined> {
  return new Promise(resolve => {
    const asked = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers
      },
      rejectUnauthorized: false
    }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => { text += part })
      response.on('end', () => { resolve(response.complete ? { code: response.statusCode ?? 0, text } : undefined) })
      response.on('error', () => { resolve(undefined) })
    })
    asked.on('error', () => { resolve(undefined) })
    asked.end(body)
  })
}

export const kept = (t: Teardown): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => { agent.destroy() })
  return agent
}

export function sockets (pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter(fd => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      return false // closed meanwhile
    }
  }).length
}

/**
 * Follows the config maps across lost connections, from the last version it saw, as clients do. Events that are
 * repeated or late are in `faults`.
 */
export class Follower {
  readonly seen = new Map<number, string>()
  readonly faults: string[] = []
  /** Number of lost connections. */
  losses = 0
  #last: number
  #stopped = false
  readonly #port: number

  constructor (port: number, from: number) {
    this.#port = port
    this.#last = from
    void this.#run()
  }

  get last (): number { return this.#last }

  stop (): void { this.#stopped = true }

  async #run (): Promise<void> {
    while (!this.#stopped) {
      await this.#once().catch(() => {})
      this.losses++
      await new Promise(resolve => { setTimeout(resolve, 10) })
    }
  }

  async #once (): Promise<void> {
    const asked = request({
      port: this.#port,
      host: '127.0.0.1',
      path: `${CONFIGS}?watch=1&resourceVersion=${this.#last}`,
      headers: { authorization: `Bearer ${TOKEN}` },
      rejectUnauthorized: false,
      agent: false
    })
    asked.on('error', () => {})
    asked.end()
    const [response] = await once(asked, 'response') as [IncomingMessage]
    response.setEncoding('utf8')
    response.on('error', () => {})
    let rest = ''
    response.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(line)
      if (this.#stopped) asked.destroy()
    })
    await new Promise<void>(resolve => { response.on('close', resolve) })
  }

  #take (line: string): void {
    const { type, object } = JSON.parse(line) as {
      type: string
      object: { code?: number, metadata: { name: string, resourceVersion: string } }
    }
    if (type === 'ERROR') {
      if (object.code !== 500 && object.code !== 503) this.faults.push(line)
      return
    }
    const version = Number(object.metadata.resourceVersion)
    if (version <= this.#last) this.faults.push(`${version} came after ${this.#last}`)
    this.#last = version
    this.seen.set(version, `${type} ${object.metadata.name}`)
  }
}

export const versionOf = (text: string): number => Number(/"resourceVersion":"(\d+)"/.exec(text)?.[1])
