/**
 * Packages that are loaded when they are first used. Where that fails, for want of descriptors for instance, it is
 * tried again at the next use: Node remembers for good that an `import()` has failed, and that a package.json it could
 * not read is not there. So packages are found at once, required later, and only success is remembered.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** @throws Error at each use at which the package cannot be loaded */
export function onDemand<T> (name: string): () => T {
  const path = require.resolve(name)
  let loaded: T | undefined
  return () => loaded ??= require(path) as T // the caller's word for what the package is
}
