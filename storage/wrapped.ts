/** Back ends in front of other back ends: timed, converted or encrypted for one resource type. */
import type { Backend } from './backend.js'

const wrapped = new WeakMap<object, Backend>()

/** Declares that `outer` reads and writes the store of `inner`. @returns outer */
export function registerWrapper (outer: Backend, inner: Backend): Backend {
  wrapped.set(outer, inner)
  return outer
}

/** The back end behind all others. Equal for resource types that share a store. */
export function unwrap<T extends object> (backend: T): T | Backend {
  let store: T | Backend = backend
  for (let inner = wrapped.get(store); inner !== undefined; inner = wrapped.get(store)) store = inner
  return store
}
