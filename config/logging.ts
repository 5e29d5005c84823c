/**
 * The log: one line of text per entry on standard error, with time, level, message and key=value fields. External input is quoted, cut and
 * stripped of control characters; fields whose names suggest secrets are omitted.
 * @see interface, 'Server start-up options': --logging-format, -v
 */
import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { printable } from './flag.js'
import type { Verbosity } from './verbosity.js'

export interface LogOptions {
  /** `-v`: 0 to 3 is info, 4 and 5 debug, more trace. */
  readonly verbosity: number
  /** Verbosity per module; a module logs with a child logger whose `module` is its name. Default `verbosity`. */
  readonly verbosityOf?: Verbosity | undefined
  /** Writes a line. Default to standard error. */
  readonly write?: (line: string) => void
}

const NAMES: Record<number, string> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO ', 40: 'WARN ', 50: 'ERROR', 60: 'FATAL' }
const SECRET = /authorization|cookie|token|password|passwd|secret|private_?key/i
/** Members added by pino. */
const OWN = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'reqId'])
const QUERY_SECRET = /([?&][^=&\s]{0,40}(?:token|password|secret|key)[^=&\s]{0,40}=)[^&\s"]*/gi
const MAX_VALUE = 4000

export const logLevel = (verbosity: number): 'info' | 'debug' | 'trace' => verbosity < 4 ? 'info' : verbosity < 6 ? 'debug' : 'trace'

/** Removes secrets from a URL. */
export const loggable = (url: string): string => url.replace(QUERY_SECRET, '$1…')

export function createLog ({ verbosity, verbosityOf = () => verbosity, write = toStandardError }: LogOptions): FastifyBaseLogger {
  return pino({
    level: logLevel(verbosity),
    base: null,
    onChild: child => {
      const { module } = child.bindings()
      if (typeof module === 'string') child.level = logLevel(verbosityOf(module)) as typeof child.level // without custom levels
    },
    serializers: {
      err: describeError,
      error: describeError,
      req: (request: { method?: unknown, url?: unknown }) => `${String(request.method)} ${loggable(String(request.url))}`,
      res: (reply: { statusCode?: unknown }) => reply.statusCode
    }
  }, { write: line => { write(textLine(line)) } })
}

/** Message, causes and stack frames of an error; a string for other values. */
function describeError (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const chain: string[] = []
  let at: unknown = error
  for (let depth = 0; at instanceof Error && depth < 5; depth++, at = at.cause) chain.push(`${at.name}: ${at.message}`)
  const frames = error.stack?.split('\n').filter(line => line.startsWith('    at ')).slice(0, 8).map(line => line.trim()) ?? []
  return [chain.join(' <- '), ...frames].join(' ')
}

/** Converts pino's JSON to a line of text. */
export function textLine (json: string): string {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(json) as Record<string, unknown> // pino writes objects
  } catch {
    return `${printable(json.trim(), MAX_VALUE)}\n`
  }
  const head = `${new Date(Number(entry['time'])).toISOString()} ${NAMES[Number(entry['level'])] ?? 'INFO '} ${loggable(printable(String(entry['msg'] ?? ''), MAX_VALUE))}`
  const fields = Object.entries(entry).filter(([key]) => !OWN.has(key)).map(([key, value]) => ` ${printable(key)}=${SECRET.test(key) ? '…' : loggableValue(value)}`)
  return `${head}${fields.join('')}\n`
}

function loggableValue (value: unknown): string {
  const text = typeof value === 'string' ? value : withoutSecrets(value)
  const safe = loggable(printable(text, MAX_VALUE))
  return safe === text && /^[^\s"=]+$/.test(text) ? text : `"${safe.replaceAll('"', '\\"')}"`
}

const withoutSecrets = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => SECRET.test(key) ? '…' : inner) ?? String(value)

function toStandardError (line: string): void {
  process.stderr.write(line)
}
