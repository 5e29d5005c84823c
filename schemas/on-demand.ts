/**
 * Loads a package at its first use. Node caches failed `import()` calls and unreadable package.json files for good, so
 * a temporary failure (no file descriptors, say) would be permanent. Resolving at start and calling `require` later
 * caches only success.
 */
import { requirePackage } from './package-files.js'

/** @throws Error on every use while the package cannot be loaded */
export function onDemand<T> (name: string): () => T {
  const path = requirePackage.resolve(name)
  let loaded: T | undefined
  return () => loaded ??= requirePackage(path) as T // the caller names the package's type
}
