/**
 * Tables of `/debug/` pages: aligned text for people, and a JSON list of objects with `?format=json`. The Accept header
 * does not decide, because kubectl always prefers JSON.
 */
import type { FastifyReply } from 'fastify'
import type { ServedRequest } from '../../answers/request-context.js'
import { badRequest } from '../../schemas/status.js'

export type Row = ReadonlyArray<string | number | boolean>

const MIN_WIDTH = 8

/** Replaces control characters in client text. */
// eslint-disable-next-line no-control-regex -- matches control characters
const onOneLine = (cell: string): string => cell.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')

/** Pads columns, separated by commas, to their widest cell. */
export function columns (header: readonly string[], rows: readonly Row[]): string {
  const cells = [header, ...rows.map(row => row.map(cell => onOneLine(String(cell))))]
    .map(row => row.map((cell, at) => at < row.length - 1 ? `${cell},` : cell))
  const widths = header.map((_, at) =>
    cells.reduce((width, row) => Math.max(width, (row[at] ?? '').length + 1), MIN_WIDTH))
  return `${cells.map(row => row.map((cell, at) => at < row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell).join(''))
    .join('\n')}\n`
}

/** Sends the rows in the form that the request asks for. @throws StatusError 400 for another form */
export function sendTable (
  request: ServedRequest, reply: FastifyReply, header: readonly string[], rows: readonly Row[]
): FastifyReply {
  const format = request.orch.query.get('format') ?? 'text'
  reply.header('x-content-type-options', 'nosniff')
  if (format === 'json') {
    return reply.type('application/json')
      .send(`${JSON.stringify(rows.map(row => Object.fromEntries(row.map((cell, at) => [header[at], cell]))))}\n`)
  }
  if (format !== 'text') throw badRequest('format must be text or json')
  return reply.type('text/plain; charset=utf-8').send(columns(header, rows))
}
