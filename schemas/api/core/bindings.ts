/** Binding (v1): puts a pod on a node. */
import { one } from '../../language/declare.js'
import type { Static } from '../../language/declare.js'
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
