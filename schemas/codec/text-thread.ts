/**
 * Worker threads for text that would block the event loop: YAML in, and large objects as YAML or indented JSON out.
 * Parsing YAML takes 0.6 ms per KiB, up to a second for a body, so all but short bodies go to a thread, with limits on
 * time, memory and the number of threads. Tenants take turns, and none has all threads. Idle threads are kept for a
 * while, because starting one costs more than most bodies. Benchmark: `npm run bench -- tenants`, 'longest turn of
 * requests that a user of one namespace may send'.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { DecodeError, DocumentError } from '../language/decode-error.js'
import { packageFile } from '../package-files.js'
import { StatusError, tooManyRequests } from '../status.js'
import { FairLine, type Kind } from './fair-line.js'
import { parseLong } from './json/exact.js'
import type { Parsed } from './json/parse.js'
import { parseYaml } from './yaml/yaml.js'

/** YAML up to this size is parsed on the event loop. */
const SMALL = 4 * 1024
const MAX_THREADS = 2
const MAX_OF_TENANT = MAX_THREADS - 1
/**
 * Bytes of a tenant's bodies that wait for a thread: what waits holds seats of priority and fairness, which others
 * need.
 */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
const RETRY_AFTER_SECONDS = 1
const TIME_LIMIT = 15_000
const KEEP_FOR = 10_000
const MEMORY_LIMIT = { maxOldGenerationSizeMb: 512 }

/** The output format. `item`: one item of a list, as `listing` in answers/formats/ needs it. */
export interface TextForm { readonly format: 'yaml' | 'indented', readonly item: boolean }

/** A request to a thread: parse YAML, or convert the server's JSON to another format. */
export type Question = { readonly yaml: Uint8Array } | { readonly json: Uint8Array, readonly form: TextForm }

export type Answer = { readonly json: string, readonly found: Omit<Parsed, 'value'> }
  | { readonly written: Uint8Array } | { readonly refused: string }

/** Who asks. */
export interface Asker {
  /** Callers of one tenant share its threads. Callers without one share those of ''. */
  readonly tenant?: string
  /** Aborts when the client has disconnected. */
  readonly signal?: AbortSignal
}

let running = 0
/** Running threads by tenant. */
const runningOf = new Map<string, number>()
const line = new FairLine()
/** Bytes of waiting bodies by tenant. */
const waitingOf = new Map<string, number>()
/** Idle threads and their termination timers. */
const idle = new Map<Worker, NodeJS.Timeout>()

/**
 * `parseYaml` without blocking the event loop.
 * @throws DecodeError; StatusError 429 if too much of the tenant's waits already
 */
export async function parseYamlBody (bytes: Uint8Array, asker: Asker = {}): Promise<Parsed> {
  if (bytes.length <= SMALL) return parseYaml(bytes)
  try {
    const answer = await inThread({ yaml: bytes }, asker)
    if ('refused' in answer) throw new DecodeError(answer.refused)
    if ('written' in answer) throw new TypeError('a thread has answered another question')
    return { value: parseLong(answer.json), ...answer.found }
  } catch (error) {
    if (error instanceof DecodeError || error instanceof StatusError) throw error
    const problem = 'is a YAML document that takes too much time or memory to parse; send JSON'
    throw new DocumentError(problem, { cause: error })
  }
}

/**
 * Converts the JSON of an object to another format.
 * @param json written by the server; it is copied
 * @throws Error beyond the time or memory limit, or when the signal is aborted
 */
export async function writeText (json: Uint8Array, form: TextForm, asker: Asker = {}): Promise<Uint8Array> {
  const answer = await inThread({ json, form }, asker)
  if (!('written' in answer)) throw new TypeError('a thread has answered another question')
  return answer.written
}

const mayStart = (tenant: string): boolean => running < MAX_THREADS && (runningOf.get(tenant) ?? 0) < MAX_OF_TENANT

function count (tenant: string, change: 1 | -1): void {
  running += change
  const own = (runningOf.get(tenant) ?? 0) + change
  if (own === 0) runningOf.delete(tenant)
  else runningOf.set(tenant, own)
}

async function inThread (question: Question, { tenant = '', signal }: Asker): Promise<Answer> {
  if (mayStart(tenant)) count(tenant, 1)
  else if ('yaml' in question) await placeOfBody(tenant, question.yaml.length, signal)
  else await place(tenant, 'answers', signal)
  try {
    return await ask(question, signal === undefined ? [] : [signal])
  } finally {
    count(tenant, -1)
    line.take(mayStart)?.()
  }
}

/** @throws StatusError 429 */
async function placeOfBody (tenant: string, bytes: number, signal: AbortSignal | undefined): Promise<void> {
  const before = waitingOf.get(tenant) ?? 0
  if (before + bytes > MAX_WAITING_BYTES) {
    const why = 'too many large YAML bodies of this user wait to be parsed'
    throw tooManyRequests(`${why}, please try again later; JSON does not wait`, RETRY_AFTER_SECONDS)
  }
  waitingOf.set(tenant, before + bytes)
  try {
    await place(tenant, 'bodies', signal)
  } finally {
    const left = (waitingOf.get(tenant) ?? 0) - bytes
    if (left > 0) waitingOf.set(tenant, left)
    else waitingOf.delete(tenant)
  }
}

/** Waits for a thread, which is counted when the wait ends. @throws DecodeError if the signal is aborted first */
async function place (tenant: string, kind: Kind, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const leave = (): void => {
      line.remove(tenant, kind, taken)
      reject(new DecodeError('the request ended before its turn came'))
    }
    const taken = (): void => {
      signal?.removeEventListener('abort', leave)
      count(tenant, 1)
      resolve()
    }
    line.add(tenant, kind, taken)
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted === true) leave()
  })
}

async function ask (question: Question, signals: AbortSignal[]): Promise<Answer> {
  if (signals.some(({ aborted }) => aborted)) throw new DecodeError('the request ended before its body was parsed')
  const worker = take()
  const disconnected = new AbortController()
  const end = (): void => { disconnected.abort() }
  worker.once('exit', end)
  try {
    worker.postMessage(question)
    // our own worker
    const [answer] = await once(worker, 'message', {
      signal: AbortSignal
        .any([AbortSignal.timeout(TIME_LIMIT), disconnected.signal, ...signals])
    }) as [Answer]
    keep(worker)
    return answer
  } catch (error) {
    await worker.terminate()
    throw error
  } finally {
    worker.off('exit', end)
  }
}

function take (): Worker {
  const [kept] = idle
  if (kept === undefined) {
    const file = packageFile('text-worker.js', (import.meta as { readonly url?: string }).url)
    const worker = new Worker(file, { resourceLimits: MEMORY_LIMIT })
    worker.on('error', () => {}) // the exchange sees the exit
    worker.once('exit', () => { forget(worker) })
    return worker
  }
  const [worker] = kept
  forget(worker)
  worker.ref()
  return worker
}

function keep (worker: Worker): void {
  worker.unref() // an idle thread must not keep the process alive
  idle.set(worker, setTimeout(() => {
    forget(worker)
    void worker.terminate()
  }, KEEP_FOR).unref())
}

function forget (worker: Worker): void {
  clearTimeout(idle.get(worker))
  idle.delete(worker)
}
