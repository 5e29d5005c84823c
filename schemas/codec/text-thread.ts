/**
 * Text off the event loop: YAML in, and large objects as YAML or indented JSON out. The YAML parser needs about 0.6 ms per KiB, and
 * many times that for the worst of texts, so all but short bodies go to a thread of their own, with bounds on time, memory and the
 * number of threads. A thread that has answered is kept for a while, as starting one costs more than most bodies.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { DecodeError } from '../language/decode-error.js'
import { parseLong } from './json/exact.js'
import type { Parsed } from './json/parse.js'
import { parseYaml } from './yaml/yaml.js'

/** Bytes of YAML that are parsed on the spot. */
const SMALL = 4 * 1024
const MAX_THREADS = 2
const TIME_LIMIT = 15_000
const KEEP_FOR = 10_000
const MEMORY_LIMIT = { maxOldGenerationSizeMb: 512 }

/** How an object is written: `item` as one of a list, as `indented` and `yaml` in routes/verbs/list.ts put it into theirs. */
export interface TextForm { readonly format: 'yaml' | 'indented', readonly item: boolean }

/** A request to a thread: parse YAML, or convert the server's own JSON into another form. */
export type Question = { readonly yaml: Uint8Array } | { readonly json: Uint8Array, readonly form: TextForm }

/** The thread's answer. */
export type Answer = { readonly json: string, readonly found: Omit<Parsed, 'value'> } | { readonly written: Uint8Array } | { readonly refused: string }

let running = 0
/** Who waits for a thread: bodies, which others wait for less long, before answers. */
const waiting = { bodies: [] as Array<() => void>, answers: [] as Array<() => void> }
/** Threads with nothing to do, and what ends them. */
const idle = new Map<Worker, NodeJS.Timeout>()

/**
 * As `parseYaml`, without holding the event loop.
 * @param signal aborted when nobody waits for the answer any more: nothing is parsed for nobody
 * @throws DecodeError
 */
export async function parseYamlBody (bytes: Uint8Array, signal?: AbortSignal): Promise<Parsed> {
  if (bytes.length <= SMALL) return parseYaml(bytes)
  try {
    const answer = await inThread({ yaml: bytes }, signal)
    if ('refused' in answer) throw new DecodeError(answer.refused)
    if ('written' in answer) throw new TypeError('a thread has answered another question')
    return { value: parseLong(answer.json), ...answer.found }
  } catch (error) {
    if (error instanceof DecodeError) throw error
    throw new DecodeError('the body is a YAML document that takes too much time or memory to parse; send JSON', { cause: error })
  }
}

/**
 * The JSON of an object as other text.
 * @param json our own; it is copied
 * @throws Error when it takes too much time or memory, or the signal is aborted
 */
export async function writeText (json: Uint8Array, form: TextForm, signal?: AbortSignal): Promise<Uint8Array> {
  const answer = await inThread({ json, form }, signal)
  if (!('written' in answer)) throw new TypeError('a thread has answered another question')
  return answer.written
}

async function inThread (question: Question, signal?: AbortSignal): Promise<Answer> {
  if (running >= MAX_THREADS) await place('yaml' in question ? waiting.bodies : waiting.answers, signal)
  else running++
  try {
    return await ask(question, signal === undefined ? [] : [signal])
  } finally {
    // The place goes to the next in line, or is free.
    const next = waiting.bodies.shift() ?? waiting.answers.shift()
    if (next === undefined) running--
    else next()
  }
}

/** Resolves with a place. @throws DecodeError when the signal is aborted before */
async function place (line: Array<() => void>, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const leave = (): void => {
      line.splice(line.indexOf(taken), 1)
      reject(new DecodeError('the request ended before its turn came'))
    }
    const taken = (): void => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    line.push(taken)
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted === true) leave()
  })
}

async function ask (question: Question, signals: AbortSignal[]): Promise<Answer> {
  if (signals.some(({ aborted }) => aborted)) throw new DecodeError('the request ended before its body was parsed')
  const worker = take()
  const gone = new AbortController()
  const end = (): void => { gone.abort() }
  worker.once('exit', end)
  try {
    worker.postMessage(question)
    const [answer] = await once(worker, 'message', { signal: AbortSignal.any([AbortSignal.timeout(TIME_LIMIT), gone.signal, ...signals]) }) as [Answer] // our own worker
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
    const worker = new Worker(new URL('./text-worker.js', import.meta.url), { resourceLimits: MEMORY_LIMIT })
    worker.on('error', () => {}) // whoever waits for it hears of it too
    worker.once('exit', () => { forget(worker) })
    return worker
  }
  const [worker] = kept
  forget(worker)
  worker.ref()
  return worker
}

function keep (worker: Worker): void {
  worker.unref() // it never keeps a process from ending
  idle.set(worker, setTimeout(() => {
    forget(worker)
    void worker.terminate()
  }, KEEP_FOR).unref())
}

function forget (worker: Worker): void {
  clearTimeout(idle.get(worker))
  idle.delete(worker)
}
