/** The Warning that tells, beside an object, what a controller found. */
import { randomBytes } from 'node:crypto'

const MAX_NAME = 200
/** Of events about cluster-scoped objects. */
const NAMESPACE = 'default'

export interface Warned {
  readonly about: {
    readonly kind: string, readonly apiVersion: string, readonly namespace: string, readonly name: string,
    readonly uid: string
  }
  readonly reason: string
  readonly message: string
  readonly component: string
  /** As objects have it. */
  readonly time: string
}

export interface WarningEvent {
  readonly kind: 'Event'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly name: string, readonly namespace: string }
}

export function warningEvent ({ about, reason, message, component, time }: Warned): WarningEvent {
  const name = `${about.name.slice(0, MAX_NAME)}.${randomBytes(8).toString('hex')}`
  const event = {
    kind: 'Event', apiVersion: 'v1', metadata: { name, namespace: about.namespace || NAMESPACE }, involvedObject: about,
    reason, message, type: 'Warning', source: { component }, firstTimestamp: time, lastTimestamp: time, count: 1
  } as const
  return event
}
