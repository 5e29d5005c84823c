/** The other end of `yaml-thread.ts`: parses what it was started with, answers once. */
import { parentPort, workerData } from 'node:worker_threads'
import { isDecodeError } from './decode-error.js'
import { parseYaml } from './yaml.js'
import type { Answer } from './yaml-thread.js'

function answer (): Answer {
  try {
    const { value, duplicates } = parseYaml(workerData as Uint8Array) // what the thread's maker hands over
    return { json: JSON.stringify(value), duplicates }
  } catch (error) {
    if (isDecodeError(error)) return { refused: error.message }
    throw error
  }
}

parentPort?.postMessage(answer())
