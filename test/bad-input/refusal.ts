/** What every bad request must get: a Status that names the fault, at little cost, from a server that keeps serving. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Test as TapTest } from 'tap'
import { BINDINGS, binding, type Client, type Answer } from '../build.js'
import { ownTime } from '../own-time.js'

export const REASONS: Readonly<Record<number, readonly string[]>> = {
  400: ['BadRequest'],
  401: ['Unauthorized'],
  403: ['Forbidden'],
  404: ['NotFound'],
  405: ['MethodNotAllowed'],
  406: ['NotAcceptable'],
  408: ['Timeout'],
  409: ['Conflict', 'AlreadyExists'],
  410: ['Expired', 'Gone'],
  413: ['RequestEntityTooLarge'],
  415: ['UnsupportedMediaType'],
  422: ['Invalid'],
  429: ['TooManyRequests']
}

/**
 * Milliseconds that a round of JSON takes on the reference machine. Slower machines get proportionally wider bounds.
 */
const NOMINAL_MS = 8
export function slowness (): number {
  const text = JSON.stringify(Array.from(
    { length: 20_000 }, (_, index) => ({ kind: 'User', name: `user-${index}`, index })
  ))
  const rounds = Array.from({ length: 6 }, () => {
    const since = ownTime()
    JSON.stringify(JSON.parse(text))
    return ownTime() - since
  })
  return Math.max(1, Math.min(...rounds) / NOMINAL_MS)
}

/**
 * Milliseconds for which one request may hold the event loop: 50 on a machine of its own, more here, because test files
 * share the cores.
 */
export const MAX_KEPT = 150 * slowness()
const ATTEMPTS = 8
const MAX_MESSAGE = 10_000

export type Checks = Pick<TapTest, 'ok' | 'equal' | 'match' | 'fail' | 'comment'>

/** What is wrong with a response that should refuse with one of `codes`; undefined if nothing is. */
export function fault (
  { code, json, headers }: Pick<Answer, 'code' | 'json' | 'headers'>, codes: readonly number[]
): string | undefined {
  if (!codes.includes(code)) return `answered ${code}, not ${codes.join(' or ')}: ${JSON.stringify(json).slice(0, 300)}`
  if (json.kind !== 'Status' || json.apiVersion !== 'v1' || json.status !== 'Failure') {
    return `is no Status of a failure: ${JSON.stringify(json).slice(0, 300)}`
  }
  if (json.code !== code) return `says code ${json.code} in an answer of ${code}`
  if (!REASONS[code]?.includes(json.reason)) return `gives ${code} the reason ${json.reason}`
  if (typeof json.message !== 'string' || json.message.length < 10) {
    return `says nothing: ${JSON.stringify(json.message)}`
  }
  if (json.message.length > MAX_MESSAGE) return `says too much: ${json.message.length} characters`
  if (!String(headers['content-type']).startsWith('application/json')) return `is sent as ${headers['content-type']}`
  return undefined
}

/** Runs `work` and returns the longest time for which this process itself held the event loop. */
export class Loop {
  async held<T> (work: () => Promise<T>): Promise<{ result: T, ms: number }> {
    let [last, ms] = [ownTime(), 0]
    const look = (): void => {
      const now = ownTime()
      ms = Math.max(ms, now - last)
      last = now
    }
    const timer = setInterval(look, 1)
    try {
      const result = await work()
      await sleep(3) // work after the response counts too
      look()
      return { result, ms }
    } finally {
      clearInterval(timer)
    }
  }

  /** The minimum of several runs: any single one may wait for a disk or a busy garbage collector. */
  async leastHeld<T> (work: () => Promise<T>): Promise<{ result: T, ms: number }> {
    let best = await this.held(work)
    for (let attempt = 1; attempt < ATTEMPTS && best.ms >= MAX_KEPT; attempt++) {
      const again = await this.held(work)
      if (again.ms < best.ms) best = again
    }
    return best
  }
}

export interface Case {
  readonly title: string
  readonly method?: string
  readonly url?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Accepted codes. Default 400. */
  readonly codes?: readonly number[]
  /** What the message must say. */
  readonly says?: RegExp
}

const MAX_WAIT = 10_000
/** Number of cases measured together. If they are too slow, each is measured alone. */
const BATCH = 20

/** Sends each case, checks its refusal and its cost, and that the server still serves. */
export async function refuses (t: Checks, server: Client, cases: Iterable<Case>): Promise<void> {
  const loop = new Loop()
  const send = async ({ title, method = 'POST', url = BINDINGS, body, headers = {} }: Case): Promise<Answer> => {
    let timer: NodeJS.Timeout | undefined
    const answer = await Promise.race([
      server.call(method, url, body, headers),
      new Promise<undefined>(resolve => { timer = setTimeout(() => { resolve(undefined) }, MAX_WAIT) })
    ])
    clearTimeout(timer)
    if (answer === undefined) throw new Error(`${title}: no answer`) // perhaps an aborted stream
    return answer
  }
  const all = [...cases]
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH)
    const { ms } = await loop.held(async () => {
      for (const one of batch) {
        const answer = await send(one)
        const wrong = fault(answer, one.codes ?? [400])
        if (wrong !== undefined) t.fail(`${one.title}: ${wrong}`)
        else if (one.says !== undefined && !one.says.test(answer.json.message)) {
          t.fail(`${one.title}: does not name the fault: ${String(answer.json.message).slice(0, 300)}`)
        }
      }
    })
    if (ms < MAX_KEPT) continue
    for (const one of batch) {
      const alone = await loop.leastHeld(() => send(one))
      if (alone.ms >= MAX_KEPT) t.fail(`${one.title}: held the event loop for ${alone.ms.toFixed(0)} ms`)
    }
  }
  t.ok(all.length > 0, `${all.length} cases`)
  await stillServes(t, server)
}

let served = 0

/** Creates, reads and deletes an object as usual, and checks that no other object has changed. */
export async function stillServes (t: Checks, server: Client): Promise<void> {
  const name = `after-${++served}`
  const codes = [
    (await server.post(BINDINGS, binding(name))).code, (await server.get(`${BINDINGS}/${name}`)).code,
    (await server.delete(`${BINDINGS}/${name}`)).code
  ]
  t.equal(codes.join(), '201,200,200', 'the next requests are served as if nothing had happened')
  t.equal(
    Object.keys(Object.prototype).length + Object.keys(Object).length + Object.keys(Array.prototype).length +
      Object.keys(Function.prototype).length,
    0,
    'no prototype has a member more'
  )
}

/** Bytes in use after a full garbage collection. */
export async function heapUsed (rounds = 3): Promise<number> {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // V8's own function, which that flag exposes
  for (let round = 0; round < rounds; round++) {
    await turn()
    collect()
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + Math.max(external, arrayBuffers)
}
