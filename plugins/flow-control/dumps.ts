/**
 * Serves `/debug/api_priority_and_fairness/dump_…`: current priority levels, queues and waiting requests as
 * comma-separated columns, or as JSON with `format=json`. Authorized like any path. `includeRequestDetails` adds user
 * and target of each request.
 */
import type { FastifyInstance } from 'fastify'
import { served } from '../../answers/request-context.js'
import type { FlowControl, Level } from '../../flow-control/flow-control.js'
import { Queue } from '../../flow-control/queue.js'
import type { QueueSet } from '../../flow-control/queue-set.js'
import { sendTable, type Row } from '../shared/debug-table.js'
import { Seat } from './seat.js'

const ROOT = '/debug/api_priority_and_fairness'
/** Idle queues of levels with more queues are omitted. */
const MAX_QUEUES = 1024

const LEVELS = ['PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests']
const QUEUES = [
  'PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR',
  'InitialSeatsSum', 'MaxSeatsSum', 'TotalWorkSum'
]
const REQUESTS = [
  'PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue', 'FlowDistingsher', 'ArriveTime',
  'InitialSeats', 'FinalSeats', 'AdditionalLatency'
]
const DETAILS = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']

const none = (name: string, header: readonly string[]): Row => [name, ...header.slice(1).map(() => '<none>')]
const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`

function levelRow ({ name, queues, quiescing }: Level): Row {
  if (queues === undefined) return none(name, LEVELS)
  return [
    name, queues.queues().filter(({ waiting }) => waiting.size > 0).length, queues.idle, quiescing, queues.waiting,
    queues.executing
  ]
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
    return [
      name, queue.index, queue.waiting.size, queue.executing, queue.seatsInUse, seatSeconds(queue.nextR), initial,
      queue.seatsWaiting, seatSeconds(queue.workWaiting)
    ]
  })
}

function requestRows ({ name, queues }: Level, details: boolean): Row[] {
  if (queues === undefined) return []
  const began = Date.now() - performance.now()
  return queues.queues().flatMap(queue => [...queue.waiting].map((ticket, index): Row => {
    const { schema, distinguisher, arrivedAt, work } = ticket
    const row = [name, schema, queue.index, index, distinguisher, new Date(began + arrivedAt)
      .toISOString(), work.seats, work.finalSeats, work.finalMs === 0 ? '0s' : `${work.finalMs}ms`]
    return details && ticket instanceof Seat ? [...row, ...detailsOf(ticket)] : row
  }))
}

function detailsOf ({ request: { orch: { user, info } } }: Seat): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = info
  return [user?.username ?? '', verb, path, namespace, name, group === ''
    ? version
    : `${group}/${version}`, resource, subresource]
}

export function serveDumps (fastify: FastifyInstance, control: FlowControl): void {
  fastify.get(`${ROOT}/dump_priority_levels`, (request, reply) =>
    sendTable(served(request), reply, LEVELS, control.levels.map(levelRow)))
  fastify.get(`${ROOT}/dump_queues`, (request, reply) =>
    sendTable(served(request), reply, QUEUES, control.levels.flatMap(queueRows)))
  fastify.get(`${ROOT}/dump_requests`, (arrived, reply) => {
    const request = served(arrived)
    const details = (request.orch.query.get('includeRequestDetails') ?? '') !== ''
    return sendTable(request, reply, details
      ? [...REQUESTS, ...DETAILS]
      : REQUESTS, control.levels.flatMap(level => requestRows(level, details)))
  })
}
