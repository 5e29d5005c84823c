/**
 * Where audit lines go: standard output, or a file that is rotated by size, whose predecessors may be
 * compressed and are removed by age and number. A file that fails is opened anew, at most once a second.
 */
import { readdir, stat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { createStream } from 'rotating-file-stream'

export interface SinkOptions {
  /** A file, or `-` for standard output. */
  readonly path: string
  readonly maxAgeDays?: number
  readonly maxBackups?: number
  /** 0 is 100. */
  readonly maxSizeMegabytes?: number
  readonly compress?: boolean
}

export interface Sink {
  /** Settles when the system has the line. */
  write: (line: string) => Promise<void>
  close: () => Promise<void>
}

const DAY = 86_400_000
const DEFAULT_MEGABYTES = 100
const REOPEN_AFTER = 1000

export function openSink (options: SinkOptions, onError: (error: Error) => void): Sink {
  if (options.path === '-') return standardOutput(onError)
  const files = rotation(options)
  let stream: Writable | undefined
  let openedAt = -Infinity
  let closed = false

  const open = (): Writable => {
    openedAt = performance.now()
    const opened = createStream(files.name, {
      path: files.folder, size: `${options.maxSizeMegabytes || DEFAULT_MEGABYTES}M`, mode: 0o600, ...(options.compress === true ? { compress: 'gzip' as const } : {})
    })
    opened.on('error', error => {
      onError(error)
      if (stream === opened) stream = undefined
    })
    opened.on('warning', onError)
    opened.on('rotated', () => { files.prune().catch(onError) })
    return opened
  }

  files.prune().catch(onError)
  return {
    write: async line => {
      if (stream === undefined) {
        if (closed || performance.now() - openedAt < REOPEN_AFTER) throw new Error('the audit log is not open')
        stream = open()
      }
      await writeTo(stream, line)
    },
    close: async () => {
      closed = true
      const last = stream
      stream = undefined
      if (last !== undefined && !last.destroyed) await new Promise<void>(resolve => { last.end(resolve) })
    }
  }
}

/** Whoever read it may have gone, which is no reason for the process to end. */
function standardOutput (onError: (error: Error) => void): Sink {
  const { stdout } = process
  stdout.on('error', onError)
  return {
    write: line => writeTo(stdout, line),
    close: async () => { stdout.off('error', onError) }
  }
}

const writeTo = (stream: Writable, line: string): Promise<void> =>
  new Promise((resolve, reject) => { stream.write(line, error => { if (error) reject(error); else resolve() }) })

interface Rotation {
  readonly folder: string
  /** The name for a rotated file, and without a time that of the current one. */
  readonly name: (time: number | Date | null, index?: number) => string
  /** Removes rotated files that are too old or too many. */
  readonly prune: () => Promise<void>
}

/** `audit.log` is rotated to `audit-2026-11-20T13-49-25.123-1.log`, with `.gz` behind where it is compressed. */
export function rotation ({ path, maxAgeDays = 0, maxBackups = 0, compress = false }: SinkOptions, now: () => number = Date.now): Rotation {
  const folder = dirname(path)
  const current = basename(path)
  const extension = extname(current)
  const stem = current.slice(0, current.length - extension.length)
  const isRotated = (name: string): boolean =>
    name.startsWith(`${stem}-`) && /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}-\d+$/.test(name.slice(stem.length + 1).replace(/\.gz$/, '').slice(0, extension === '' ? undefined : -extension.length))
  return {
    folder,
    name: (time, index = 1) => time === null || time === undefined
      ? current
      : `${stem}-${new Date(time).toISOString().slice(0, -1).replaceAll(':', '-')}-${index}${extension}${compress ? '.gz' : ''}`,
    prune: async () => {
      if (maxAgeDays === 0 && maxBackups === 0) return
      const names = (await readdir(folder)).filter(isRotated).sort().reverse() // the names sort by time: newest first
      for (const [index, name] of names.entries()) {
        const file = join(folder, name)
        const old = maxAgeDays > 0 && now() - (await stat(file)).mtimeMs > maxAgeDays * DAY
        if (old || (maxBackups > 0 && index >= maxBackups)) await unlink(file)
      }
    }
  }
}
