/** Annotations of v1 HorizontalPodAutoscalers that hold fields of v2 as JSON: their names, reading, and limit. */
import { UNBOUNDED } from '../../codec/json/parse.js'
import { decode } from '../../language/decode.js'
import type { Message } from '../../language/declare.js'
import { MAX_VALUES } from '../../limits.js'
import { tooLarge } from '../../status.js'

export const METRICS = 'autoscaling.alpha.orch.io/metrics'
export const CURRENT_METRICS = 'autoscaling.alpha.orch.io/current-metrics'
export const CONDITIONS = 'autoscaling.alpha.orch.io/conditions'
export const BEHAVIOR = 'autoscaling.alpha.orch.io/behavior'
/**
 * Metrics exactly as sent, if v1 would change their order or target types. Validation reads them; they are never
 * stored.
 */
export const SENT = 'autoscaling.alpha.orch.io/sent-metrics'
/** Annotations that hold parts of the status of v2, and of its spec. */
export const OF_STATUS: readonly string[] = [CURRENT_METRICS, CONDITIONS]
export const OF_SPEC: readonly string[] = [METRICS, BEHAVIOR, SENT]
export const KEPT: readonly string[] = [...OF_STATUS, ...OF_SPEC]

/**
 * Whatever was stored is read, of any size: `refuseTooMany` limits it when it is written.
 * @returns undefined for malformed JSON or an unexpected shape
 */
export function read<T> (parse: (value: unknown) => T, text: string | undefined): T | undefined {
  if (text === undefined) return undefined
  try {
    return parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export const listOf = <T extends object>(message: Message<T>) => (value: unknown): T[] =>
  (value as unknown[]).map(item => decode(message, item, UNBOUNDED).object) // throws unless the value is a list

/**
 * Refuses annotations of a client that hold more values than an object may: they count as one value each when the
 * object is decoded.
 * @throws StatusError 413
 */
export function refuseTooMany (annotations: Readonly<Record<string, string>> = {}, names = KEPT): void {
  const texts = names.map(name => annotations[name] ?? '')
  if (texts.join('').length <= MAX_VALUES) return // the shortest value takes two characters
  let left = MAX_VALUES
  for (const text of texts) left -= countValues(text)
  if (left >= 0) return
  throw tooLarge(`the annotations that hold fields of autoscaling/v2 hold more values than the limit of ${MAX_VALUES}`)
}

/** Items and members in a JSON text, without parsing it. Anything for malformed JSON, which nobody reads. */
function countValues (text: string): number {
  let count = 0
  let isText = false
  let opened = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string // within the text
    if (isText) {
      if (char === '\\') at++
      else if (char === '"') isText = false
      continue
    }
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') continue
    if (opened && char !== ']' && char !== '}') count++
    opened = char === '[' || char === '{'
    if (char === ',') count++
    else if (char === '"') isText = true
  }
  return count
}
