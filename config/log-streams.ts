/**
 * The two streams of `--log-text-split-stream`: errors on standard error, the rest on standard output, there in blocks
 * of `--log-text-info-buffer-size`.
 */
import { readBufferSize } from './flags/observability.js'
import type { Values } from './flags/index.js'
import type { LogOptions } from './logging.js'

/** How flags say that the log is written. */
export function logForm (values: Values): Pick<LogOptions, 'format' | 'write'> {
  const { 'logging-format': format, 'log-text-info-buffer-size': size } = values
  if (!values['log-text-split-stream']) return { format }
  const bufferBytes = readBufferSize(size) ?? 0 // the flag is checked
  return { format, ...splitStreams({ bufferBytes, flushInterval: values['log-flush-frequency'] }) }
}

export interface Streams {
  /** @param isError for standard error */
  readonly write: (line: string, isError: boolean) => void
}

export interface StreamOptions {
  /** Bytes that may wait for the rest of a block; 0 for none. */
  readonly bufferBytes: number
  /** Milliseconds after which they are written anyway. */
  readonly flushInterval: number
  /** Default standard output. */
  readonly output?: (text: string) => void
  /** Default standard error. */
  readonly errors?: (text: string) => void
}

/** What waits is written before an error, so that the order of both is kept, and when the process ends. */
export function splitStreams ({
  bufferBytes, flushInterval, output = text => { process.stdout.write(text) },
  errors = text => { process.stderr.write(text) }
}: StreamOptions): Streams {
  let waiting: string[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const text = waiting.join('')
    ;[waiting, bytes] = [[], 0]
    output(text)
  }
  if (bufferBytes > 0) process.once('exit', flush)
  return {
    write: (line, isError) => {
      if (isError) {
        flush()
        errors(line)
        return
      }
      waiting.push(line)
      bytes += Buffer.byteLength(line)
      if (bytes > bufferBytes) flush()
      else timer ??= setTimeout(flush, flushInterval).unref()
    }
  }
}
