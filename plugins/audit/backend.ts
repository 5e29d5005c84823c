/**
 * A back end of the audit log: events as text, cut where they are too large, given out one by one while the request waits, or in
 * batches while nobody does. What is lost is counted and said.
 */
import { eventJson, type AuditEvent } from './event.js'
import { Batches, type BatchOptions, type Deliver, type Lost } from './batches.js'

export type Mode = 'batch' | 'blocking' | 'blocking-strict'

export interface TruncateOptions {
  /** Bytes of an event; larger ones lose their objects, or go. Default 102,400. */
  readonly maxEventSize?: number
  /** Bytes of a batch; larger ones are split. Default 10,485,760. */
  readonly maxBatchSize?: number
}

export interface BackendOptions {
  readonly mode: Mode
  readonly batch?: BatchOptions | undefined
  readonly truncate?: TruncateOptions | undefined
}

export interface BackendContext {
  readonly deliver: Deliver
  /** An event as this one takes it. Default its JSON. */
  readonly text?: (event: AuditEvent, whole?: boolean) => string
  readonly atOnce?: number
  readonly lost: Lost
  readonly close: () => Promise<void>
}

export interface Backend {
  readonly strict: boolean
  /** False when it is known to be lost. In batch mode it is not waited for. */
  write: (event: AuditEvent) => Promise<boolean> | boolean
  close: () => Promise<void>
}

export function openBackend ({ mode, batch = {}, truncate }: BackendOptions, context: BackendContext): Backend {
  const { text = eventJson, lost, atOnce = 1 } = context
  const deliver = truncate === undefined ? context.deliver : inParts(context.deliver, truncate.maxBatchSize ?? 10_485_760)
  const textOf = (event: AuditEvent): string | undefined => {
    if (truncate === undefined) return text(event)
    const most = truncate.maxEventSize ?? 102_400
    for (const made of [text(event), text(event, false)]) if (Buffer.byteLength(made) <= most) return made
    lost(1, new Error(`an event is larger than ${most} bytes without its objects`), 'truncate')
    return undefined
  }
  if (mode === 'batch') {
    const batches = new Batches(batch, { deliver, atOnce, lost })
    return {
      strict: false,
      write: event => {
        const item = textOf(event)
        if (item !== undefined) batches.add(item)
        return item !== undefined
      },
      close: async () => {
        await batches.close()
        await context.close()
      }
    }
  }
  return {
    strict: mode === 'blocking-strict',
    write: event => {
      const item = textOf(event)
      if (item === undefined) return false
      return deliver([item]).then(() => true, (error: unknown) => {
        lost(1, error)
        return false
      })
    },
    close: context.close
  }
}

/** Batches of so many bytes at most, or of one event. */
function inParts (deliver: Deliver, most: number): Deliver {
  return async items => {
    let from = 0
    let size = 0
    for (const [index, item] of items.entries()) {
      const bytes = Buffer.byteLength(item)
      if (index > from && size + bytes > most) {
        await deliver(items.slice(from, index))
        from = index
        size = 0
      }
      size += bytes
    }
    await deliver(items.slice(from))
  }
}
