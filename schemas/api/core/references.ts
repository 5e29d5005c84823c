/** References to objects. */
import { string, type Static } from '../../language/declare.js'
import { message } from './package.js'

export type ObjectReference = Static<typeof ObjectReference>
export const ObjectReference = message('ObjectReference', 'Another object, or a part of one.', {
  kind: string(1, 'Kind of the object.'),
  namespace: string(2, 'Namespace of the object.'),
  name: string(3, 'Name of the object.'),
  uid: string(4, 'UID of the object.'),
  apiVersion: string(5, 'API version of the object.'),
  resourceVersion: string(6, 'The version that is meant, if only one is.'),
  fieldPath: string(7, 'The part that is meant, as in spec.containers{name}.')
}, { structType: 'atomic' })

export type LocalObjectReference = Static<typeof LocalObjectReference>
export const LocalObjectReference = message('LocalObjectReference', 'Another object of the same namespace.', {
  name: string(1, 'Name of the object.', { emptySince: '1.30' })
}, { structType: 'atomic' })

export type EventSource = Static<typeof EventSource>
export const EventSource = message('EventSource', 'Who tells of an event.', {
  component: string(1, 'Name of the component.'),
  host: string(2, 'Name of the node it runs on.')
})
