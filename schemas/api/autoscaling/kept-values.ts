/** What HorizontalPodAutoscalers of v1 keep in annotations. */
import { decode } from '../../language/decode.js'
import type { Message } from '../../language/declare.js'

export const METRICS = 'autoscaling.alpha.orch.io/metrics'

/** Characters that all annotations of an object may have: what is longer is refused as such, and not read before. */
const LONGEST = 256 * 1024

/** Undefined for what is no JSON of that shape. */
export function read<T> (parse: (value: unknown) => T, text: string | undefined): T | undefined {
  if (text === undefined || text.length > LONGEST) return undefined
  try {
    return parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export const listOf = <T extends object>(message: Message<T>) => (value: unknown): T[] => (value as unknown[]).map(item => decode(message, item).object) // anything but a list throws
