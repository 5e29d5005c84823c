/** The worker side of `text-thread.ts`. */
import { parentPort } from 'node:worker_threads'
import { isDecodeError } from '../language/decode-error.js'
import { parseExactly, stringify } from './json/exact.js'
import type { Answer, Question, TextForm } from './text-thread.js'
import { indentedItem } from './json/indented.js'
import { toYaml } from './yaml/yaml-write.js'
import { parseYaml } from './yaml/yaml.js'

function parsed (bytes: Uint8Array): Answer {
  try {
    const { value, ...defects } = parseYaml(bytes)
    return { json: stringify(value) ?? 'null', found: defects }
  } catch (error) {
    if (isDecodeError(error)) return { refused: error.message }
    throw error
  }
}

function written (value: unknown, { format, item }: TextForm): string {
  if (format === 'yaml') return toYaml(item ? [value] : value)
  return item ? indentedItem(value) : stringify(value, 2) ?? ''
}

parentPort?.on('message', (question: Question) => { // sent by text-thread.ts
  if ('yaml' in question) {
    parentPort?.postMessage(parsed(question.yaml))
    return
  }
  const bytes = new TextEncoder().encode(written(parseExactly(question.json), question.form))
  parentPort?.postMessage({ written: bytes }, [bytes.buffer])
})
