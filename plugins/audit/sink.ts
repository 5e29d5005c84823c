/** Opens the audit log: standard output or a file. */
import type { Writable } from 'node:stream'
import { GroupedWrites, type Sink } from './grouped-writes.js'
import { LogFile, type SharedFile } from './log-file.js'
import { RotatedFiles, type RotationOptions } from './rotated-files.js'

export interface SinkOptions extends RotationOptions {
  /** 0 means 100. */
  readonly maxSizeMegabytes?: number
  /** Set if other processes write to the same file. */
  readonly shared?: SharedFile
}

/** Milliseconds between checks of a shared file by the process that rotates it, which may write little itself. */
const ROTATION_INTERVAL = 1000
const DEFAULT_MEGABYTES = 100

/** @param onError receives errors that fail no write: rotation, compression, a closed reader */
export function openSink (options: SinkOptions, onError: (error: Error) => void): Sink {
  if (options.path === '-') return standardOutput(onError)
  const { path, shared } = options
  const maxSize = (options.maxSizeMegabytes || DEFAULT_MEGABYTES) * 1024 * 1024
  const file = new GroupedWrites(new LogFile({ path, maxSize, rotated: new RotatedFiles(options), shared }, onError))
  return shared === undefined ? file : rotating(file, shared, onError)
}

function rotating (file: Sink, { rotates }: SharedFile, onError: (error: Error) => void): Sink {
  const looking = setInterval(() => { if (rotates()) file.write('').catch(onError) }, ROTATION_INTERVAL).unref()
  return {
    write: lines => file.write(lines),
    close: async () => {
      clearInterval(looking)
      await file.close()
    }
  }
}

/** The error listener keeps the process alive when the reader of standard output exits. */
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
