/**
 * Finds what belongs to this package beside its modules, wherever those are: in the package, in the compiler's output,
 * or in files that the bundler of a host has made of them. Imports have names that no banner of a bundle declares.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire as requireFrom } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Bundled as CommonJS modules have no `import.meta`. */
const near = requireFrom((import.meta as { readonly url?: string }).url ?? pathToFileURL(__filename).href)

/** The package.json of this package, where it is installed. */
function manifestFile (): string | undefined {
  try {
    return near.resolve('orch-apiserver/package.json')
  } catch {
    return undefined
  }
}

const manifest = manifestFile()

/** Requires the packages of this one. */
export const requirePackage = manifest === undefined ? near : requireFrom(manifest)

let version: string | undefined

export function packageVersion (): string {
  if (version !== undefined) return version
  if (manifest !== undefined) ({ version } = requirePackage(manifest) as { version?: string }) // a package.json
  return version ??= '0.0.0'
}

/** @param url of a module that has the file beside it, unless it was bundled by a host */
export function packageFile (name: string, url: string | undefined): string {
  const beside = url === undefined ? undefined : fileURLToPath(new URL(name, url))
  return manifest === undefined || (beside !== undefined && existsSync(beside))
    ? beside ?? name
    : join(dirname(manifest), 'dist/bundle', name)
}

interface BuildCommit {
  /** In hexadecimal digits; empty if it is unknown. */
  readonly commit: string
  readonly state: string
}

let built: BuildCommit | undefined

/** Of `build/commit.js`; empty where the sources run without a build. */
export function buildCommit (): BuildCommit {
  if (built !== undefined) return built
  const file = packageFile('build.json', (import.meta as { readonly url?: string }).url)
  return built = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8')) as BuildCommit // the build wrote it
    : { commit: '', state: '' }
}
