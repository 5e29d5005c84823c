/**
 * YAML off the event loop: the parser needs about 0.6 ms per KiB, so what is large goes to a thread of its own,
 * with bounds on time, memory and the number of threads.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { DecodeError } from './decode-error.js'
import type { Parsed } from './json/parse.js'
import { parseYaml } from './yaml.js'

/** Bytes that are parsed on the spot. */
const SMALL = 32 * 1024
const MAX_THREADS = 2
const TIME_LIMIT = 15_000
const MEMORY_LIMIT = { maxOldGenerationSizeMb: 512 }

/** What a thread answers. */
export type Answer = { readonly json: string, readonly duplicates: string[] } | { readonly refused: string }

let running = 0
const waiting: Array<() => void> = []

/** As `parseYaml`, without holding the event loop. @throws DecodeError */
export async function parseYamlBody (bytes: Uint8Array): Promise<Parsed> {
  if (bytes.length <= SMALL) return parseYaml(bytes)
  if (running >= MAX_THREADS) await new Promise<void>(resolve => waiting.push(resolve))
  else running++
  try {
    return await parseInThread(bytes)
  } finally {
    // The place goes to the next in line, or is free.
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

async function parseInThread (bytes: Uint8Array): Promise<Parsed> {
  const worker = new Worker(new URL('./yaml-worker.js', import.meta.url), { workerData: bytes, resourceLimits: MEMORY_LIMIT })
  try {
    const [answer] = await once(worker, 'message', { signal: AbortSignal.timeout(TIME_LIMIT) }) as [Answer] // our own worker
    if ('refused' in answer) throw new DecodeError(answer.refused)
    return { value: JSON.parse(answer.json), duplicates: answer.duplicates }
  } catch (error) {
    if (error instanceof DecodeError) throw error
    throw new DecodeError('the body is a YAML document that takes too much time or memory to parse; send JSON', { cause: error })
  } finally {
    await worker.terminate()
  }
}
