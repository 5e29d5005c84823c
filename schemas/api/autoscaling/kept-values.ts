/** What HorizontalPodAutoscalers of v1 keep in annotations. */
import { decode } from '../../language/decode.js'
import type { Message } from '../../language/declare.js'

export const METRICS = 'autoscaling.alpha.orch.io/metrics'

/** Undefined for what is no JSON of that shape. */
export function read<T> (parse: (value: unknown) => T, text: string | undefined): T | undefined {
  if (text === undefined) return undefined
  try {
    return parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export const listOf = <T extends object>(message: Message<T>) => (value: unknown): T[] => (value as unknown[]).map(item => decode(message, item).object) // anything but a list throws
