/**
 * Serves `/debug/api_priority_and_fairness/dump_…`: current priority levels, queues and waiting requests as comma-separated columns.
 * Authorized like any path. `includeRequestDetails` adds user and target of each request.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { FlowControl, Level } from '../../flow-control/flow-control.js'
import { Queue } from '../../flow-control/queue.js'
import type { QueueSet } from '../../flow-control/queue-set.js'
import { Seat } from './seat.js'

const ROOT = '/debug/api_priority_and_fairness'
/** Idle queues of levels with more queues are omitted. */
const MAX_QUEUES = 1024
const MIN_WIDTH = 8

const LEVELS = ['PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests']
const QUEUES = ['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR', 'InitialSeatsSum', 'MaxSeatsSum', 'TotalWorkSum']
const REQUESTS = ['PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue', 'FlowDistingsher', 'ArriveTime', 'InitialSeats', 'FinalSeats', 'AdditionalLatency']
const DETAILS = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']

type Row = ReadonlyArray<string | number | boolean>

/** Replaces control characters in client text. */
// eslint-disable-next-line no-control-regex -- matches control characters
const onOneLine = (cell: string): string => cell.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')

/** Pads columns to their widest cell. */
export function columns (header: readonly string[], rows: readonly Row[]): string {
  const cells = [header, ...rows.map(row => row.map(cell => onOneLine(String(cell))))].map(row => row.map((cell, at) => at < row.length - 1 ? `${cell},` : cell))
  const widths = header.map((_, at) => cells.reduce((width, row) => Math.max(width, (row[at] ?? '').length + 1), MIN_WIDTH))
  return `${cells.map(row => row.map((cell, at) => at < row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell).join('')).join('\n')}\n`
}

const none = (name: string, header: readonly string[]): Row => [name, ...header.slice(1).map(() => '<none>')]
const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`

function levelRow ({ name, queues, quiescing }: Level): Row {
  if (queues === undefined) return none(name, LEVELS)
  return [name, queues.queues().filter(({ waiting }) => waiting.size > 0).length, queues.idle, quiescing, queues.waiting, queues.executing]
}

function queuesOf (set: QueueSet): Queue[] {
  const known = set.queues()
  if (set.settings.queues > MAX_QUEUES) return known.filter(({ idle }) => !idle)
  const all = new Map(Array.from({ length: set.settings.queues }, (_, index) => [index, new Queue(index)]))
  for (const queue of known) all.set(queue.index, queue)
  return [...all.values()]
}

function queueRows ({ name, queues }: Level): Row[] {
  if (queues === undefined) return [none(name, QUEUES)]
  return queuesOf(queues).map(queue => {
    const initial = [...queue.waiting].reduce((sum, { work }) => sum + work.seats, 0)
    return [name, queue.index, queue.waiting.size, queue.executing, queue.seatsInUse, seatSeconds(queue.nextR), initial, queue.seatsWaiting, seatSeconds(queue.workWaiting)]
  })
}

function requestRows ({ name, queues }: Level, details: boolean): Row[] {
  if (queues === undefined) return []
  const began = Date.now() - performance.now()
  return queues.queues().flatMap(queue => [...queue.waiting].map((ticket, index): Row => {
    const { schema, distinguisher, arrivedAt, work } = ticket
    const row = [name, schema, queue.index, index, distinguisher, new Date(began + arrivedAt).toISOString(), work.seats, work.finalSeats, work.finalMs === 0 ? '0s' : `${work.finalMs}ms`]
    return details && ticket instanceof Seat ? [...row, ...detailsOf(ticket)] : row
  }))
}

function detailsOf ({ request: { orch: { user, info } } }: Seat): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = info
  return [user?.username ?? '', verb, path, namespace, name, group === '' ? version : `${group}/${version}`, resource, subresource]
}

export function serveDumps (fastify: FastifyInstance, control: FlowControl): void {
  const text = (reply: FastifyReply, content: string): FastifyReply => reply.type('text/plain; charset=utf-8').header('x-content-type-options', 'nosniff').send(content)
  fastify.get(`${ROOT}/dump_priority_levels`, (_request, reply) => text(reply, columns(LEVELS, control.levels.map(levelRow))))
  fastify.get(`${ROOT}/dump_queues`, (_request, reply) => text(reply, columns(QUEUES, control.levels.flatMap(queueRows))))
  fastify.get(`${ROOT}/dump_requests`, (request, reply) => {
    const details = (request.orch.query.get('includeRequestDetails') ?? '') !== ''
    return text(reply, columns(details ? [...REQUESTS, ...DETAILS] : REQUESTS, control.levels.flatMap(level => requestRows(level, details))))
  })
}
