/**
 * The log: one line per entry on standard error, as text with time, level, message and key=value fields or as JSON with
 * upstream's members. External input is quoted, cut and stripped of control characters; fields whose names suggest
 * secrets are omitted.
 * @see interface, 'Server start-up options': --logging-format, -v
 */
import type { FastifyBaseLogger } from 'fastify'
import { pino, type DestinationStream } from 'pino'
import { withoutUrlSecrets } from '../schemas/quote.js'
import { printable } from './flag.js'
import { Verbosity } from './verbosity.js'

export interface LogOptions {
  /**
   * 0 to 3 is info, 4 and 5 debug, more trace. Each module logs with a child logger of its own, whose `module` is its
   * name.
   */
  readonly verbosity: number | Verbosity
  /** Default text. */
  readonly format?: 'text' | 'json'
  /** The name of the process among several, a field of each line. Default none. */
  readonly process?: string
  /** Writes a line, and whether it is of level error. Default to standard error. */
  readonly write?: (line: string, isError: boolean) => void
}

const [DEBUG, INFO, ERROR] = [20, 30, 50]
const NAMES: Record<number, string> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO ', 40: 'WARN ', 50: 'ERROR', 60: 'FATAL' }
const SECRET = /authorization|cookie|token|password|passwd|secret|private_?key/i
/** Members added by pino. */
const OWN = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'reqId'])
const MAX_VALUE = 4000

export const logLevel = (verbosity: number): 'info' | 'debug' | 'trace' =>
  verbosity < 4 ? 'info' : verbosity < 6 ? 'debug' : 'trace'

export function createLog (
  { verbosity, format = 'text', process: name, write = toStandardError }: LogOptions
): FastifyBaseLogger {
  const render = format === 'json' ? jsonLine : textLine
  const levels = typeof verbosity === 'number' ? new Verbosity(verbosity) : verbosity
  const log = pino({
    level: logLevel(levels.v),
    base: name === undefined ? null : { process: name },
    onChild: child => {
      const { module } = child.bindings()
      if (typeof module !== 'string') return
      // without custom levels
      const adjust = (): void => { child.level = logLevel(levels.of(module)) as typeof child.level }
      adjust()
      levels.follow(adjust)
    },
    serializers: {
      err: describeError,
      error: describeError,
      req: (request: { method?: unknown, url?: unknown }) =>
        `${String(request.method)} ${withoutUrlSecrets(String(request.url))}`,
      res: (reply: { statusCode?: unknown }) => reply.statusCode
    }
  }, {
    [Symbol.for('pino.metadata')]: true, // asks pino for `lastLevel`
    lastLevel: INFO,
    write (line: string) { write(render(line), this.lastLevel >= ERROR) }
  } as DestinationStream & { lastLevel: number })
  levels.follow(() => { log.level = logLevel(levels.v) })
  return log
}

/** Message, causes and stack frames of an error; a string for other values. */
function describeError (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const chain: string[] = []
  let at: unknown = error
  for (let depth = 0; at instanceof Error && depth < 5; depth++, at = at.cause) chain.push(`${at.name}: ${at.message}`)
  const frames = error.stack?.split('\n').filter(line => line.startsWith('    at ')).slice(0, 8).map(line =>
    line.trim()) ?? []
  return [chain.join(' <- '), ...frames].join(' ')
}

interface Entry {
  readonly time: number, readonly level: number, readonly message: string,
  readonly fields: ReadonlyArray<readonly [name: string, value: unknown]>
}

/** Reads pino's JSON; undefined for other text. */
function entryOf (json: string): Entry | undefined {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(json) as Record<string, unknown> // pino writes objects
  } catch {
    return undefined
  }
  return {
    time: Number(entry['time']),
    level: Number(entry['level']),
    message: safe(String(entry['msg'] ?? '')),
    fields: Object.entries(entry).filter(([name]) => !OWN.has(name)).map(([name, value]) =>
      [printable(name), SECRET.test(name) ? '…' : value])
  }
}

/** Converts pino's JSON to a line of text. */
export function textLine (json: string): string {
  const entry = entryOf(json)
  if (entry === undefined) return `${printable(json.trim(), MAX_VALUE)}\n`
  const fields = entry.fields.map(([name, value]) => ` ${name}=${textOf(value)}`)
  return `${new Date(entry.time).toISOString()} ${NAMES[entry.level] ?? 'INFO '} ${entry.message}${fields.join('')}\n`
}

/**
 * Converts pino's JSON to a line with upstream's members, `ts` in milliseconds, `v` except for errors and `msg`, and
 * `level`.
 */
export function jsonLine (json: string): string {
  const entry = entryOf(json) ?? { time: Date.now(), level: 30, message: printable(json.trim(), MAX_VALUE), fields: [] }
  const own = {
    ts: entry.time, level: (NAMES[entry.level] ?? 'INFO').trim().toLowerCase(),
    ...(entry.level >= ERROR ? {} : { v: entry.level >= INFO ? 0 : entry.level >= DEBUG ? 4 : 6 }),
    msg: entry.message
  }
  const fields = entry.fields.filter(([name]) => !Object.hasOwn(own, name)).map(([name, value]) =>
    [name, typeof value === 'number' || typeof value === 'boolean' ? value : safe(plain(value))])
  return `${JSON.stringify({ ...own, ...Object.fromEntries(fields) })}\n`
}

/** Escaped, cut and without secrets. */
const safe = (text: string): string => withoutUrlSecrets(printable(text, MAX_VALUE))
const plain = (value: unknown): string => typeof value === 'string' ? value : withoutSecrets(value)

function textOf (value: unknown): string {
  const text = plain(value)
  const escaped = safe(text)
  return escaped === text && /^[^\s"=]+$/.test(text) ? text : `"${escaped.replaceAll('"', '\\"')}"`
}

const withoutSecrets = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => SECRET.test(key) ? '…' : inner) ?? String(value)

function toStandardError (line: string): void {
  process.stderr.write(line)
}
