/** The other end of `yaml-thread.ts`: parses each body it is sent and answers once for it. */
import { parentPort } from 'node:worker_threads'
import { isDecodeError } from '../../language/decode-error.js'
import { stringify } from '../json/exact.js'
import { parseYaml } from './yaml.js'
import type { Answer } from './yaml-thread.js'

function answer (bytes: Uint8Array): Answer {
  try {
    const { value, ...found } = parseYaml(bytes)
    return { json: stringify(value) ?? 'null', found }
  } catch (error) {
    if (isDecodeError(error)) return { refused: error.message }
    throw error
  }
}

parentPort?.on('message', (bytes: Uint8Array) => { parentPort?.postMessage(answer(bytes)) }) // what the thread's maker sends
