/** Reads values in annotations of v1 HorizontalPodAutoscalers. */
import { decode } from '../../language/decode.js'
import type { Message } from '../../language/declare.js'

export const METRICS = 'autoscaling.alpha.orch.io/metrics'

/** In characters. A longer annotation is invalid anyway, so it is not parsed. */
const LONGEST = 256 * 1024

/** @returns undefined for malformed JSON or an unexpected shape */
export function read<T> (parse: (value: unknown) => T, text: string | undefined): T | undefined {
  if (text === undefined || text.length > LONGEST) return undefined
  try {
    return parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export const listOf = <T extends object>(message: Message<T>) => (value: unknown): T[] => (value as unknown[]).map(item => decode(message, item).object) // throws unless the value is a list
