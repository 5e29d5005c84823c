/** Rules on names within metadata that other declarations use too. */
import { qualifiedName } from './names.js'

/** Finalizers the server itself knows need no domain. */
const STANDARD: ReadonlySet<string> = new Set(['orch', 'orphan', 'foregroundDeletion'])

export function finalizerName (name: string): string | undefined {
  const why = qualifiedName(name)
  if (why !== undefined) return why
  return name.includes('/') || STANDARD.has(name) ? undefined : 'must be a finalizer of the server or begin with a domain, as in example.com/name'
}
