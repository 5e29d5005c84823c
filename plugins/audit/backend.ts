/**
 * An audit back end: serializes events, truncates large ones, and writes them one by one while the request waits
 * (blocking) or in batches. Lost events are counted and reported.
 */
import { eventJson, type AuditEvent } from './event.js'
import { Batches, type BatchOptions, type Deliver, type OnLost } from './batches.js'

export type Mode = 'batch' | 'blocking' | 'blocking-strict'

export interface TruncateOptions {
  /** Maximum bytes of an event; a larger one loses its objects, or is dropped. Default 102,400. */
  readonly maxEventSize?: number
  /** Maximum bytes of a batch; a larger one is split. Default 10,485,760. */
  readonly maxBatchSize?: number
}

export interface AuditBackendOptions {
  readonly mode: Mode
  readonly batch?: BatchOptions | undefined
  readonly truncate?: TruncateOptions | undefined
}

export interface BackendContext {
  readonly deliver: Deliver
  /** Serializes an event. Default JSON. */
  readonly text?: (event: AuditEvent, whole?: boolean) => string
  /** Maximum concurrent deliveries of batches. Default 1. */
  readonly maxInFlight?: number
  readonly lost: OnLost
  readonly close: () => Promise<void>
}

export interface AuditBackend {
  /** Whether the request may go on: false if a strict back end lost the event. Batches are not waited for. */
  write: (event: AuditEvent) => Promise<boolean> | boolean
  close: () => Promise<void>
}

export function openBackend (
  { mode, batch = {}, truncate }: AuditBackendOptions, context: BackendContext
): AuditBackend {
  const { text = eventJson, lost, maxInFlight = 1 } = context
  const deliver = truncate === undefined
    ? context.deliver
    : inParts(context.deliver, truncate.maxBatchSize ?? 10_485_760)
  const textOf = (event: AuditEvent): string | undefined => {
    if (truncate === undefined) return text(event)
    const maxBytes = truncate.maxEventSize ?? 102_400
    for (const eventText of [text(event), text(event, false)]) {
      if (Buffer.byteLength(eventText) <= maxBytes) return eventText
    }
    lost(1, new Error(`an event is larger than ${maxBytes} bytes without its objects`), 'truncate')
    return undefined
  }
  if (mode === 'batch') {
    const batches = new Batches(batch, { deliver, maxInFlight, lost })
    return {
      write: event => {
        const item = textOf(event)
        if (item !== undefined) batches.add(item)
        return true
      },
      close: async () => {
        await batches.close()
        await context.close()
      }
    }
  }
  const loses = mode !== 'blocking-strict'
  /** Those that are not delivered yet. */
  const pending = new Set<Promise<boolean>>()
  return {
    write: event => {
      const item = textOf(event)
      if (item === undefined) return loses
      const delivered = deliver([item]).then(() => {
        pending.delete(delivered)
        return true
      }, (error: unknown) => {
        pending.delete(delivered)
        lost(1, error)
        return loses
      })
      pending.add(delivered)
      return delivered
    },
    close: async () => {
      await Promise.all(pending)
      await context.close()
    }
  }
}

/** Splits batches at `most` bytes; a single event may be larger. */
function inParts (deliver: Deliver, maxBytes: number): Deliver {
  return async items => {
    let from = 0
    let size = 0
    for (const [index, item] of items.entries()) {
      const bytes = Buffer.byteLength(item)
      if (index > from && size + bytes > maxBytes) {
        await deliver(items.slice(from, index))
        from = index
        size = 0
      }
      size += bytes
    }
    await deliver(items.slice(from))
  }
}
