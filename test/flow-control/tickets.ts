/** Tickets that record their outcome. */
import { ONE_SEAT, Ticket, type Refusal, type Work } from '../../flow-control/queue.js'
import type { QueueSet } from '../../flow-control/queue-set.js'

export class NotedTicket extends Ticket {
  readonly notes: string[] = []
  constructor (flow: string, readonly log: string[] = [], work: Work = ONE_SEAT) { super('schema', flow, work) }
  dispatched (): void { this.notes.push('dispatched'); this.log.push(this.distinguisher) }
  refused (reason: Refusal): void { this.notes.push(reason) }
  released (): void { this.notes.push('released') }
}

/** Enters that many requests of a flow, and records what becomes of each at once. */
export function enter (
  set: QueueSet, flow: string, count: number, log: string[] = [], work: Work = ONE_SEAT
): { tickets: NotedTicket[], outcomes: string[] } {
  const tickets = Array.from({ length: count }, () => new NotedTicket(flow, log, work))
  return { tickets, outcomes: tickets.map(ticket => set.enter(ticket)) }
}
