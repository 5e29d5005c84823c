/** Binding (v1): assigns a pod to a node. */
import { one, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { ObjectReference } from './references.js'
import { resource } from '../../resource.js'
import { kind } from './package.js'

export type Binding = Static<typeof Binding>
export const Binding = kind('Binding', 'Binds one object to another, such as a pod to a node.', {
  metadata,
  target: one(2, 'What the object is bound to.', ObjectReference, { required: true })
})

export const bindings = resource(Binding, {
  plural: 'bindings',
  namespaced: true,
  verbs: ['create'],
  virtual: true
})
