#!/usr/bin/env -S node --min-semi-space-size=24 --max-semi-space-size=32 --no-allocation-site-pretenuring
/**
 * What the command runs: the bundle of `cli.ts`, compiled already. Finding out where the functions of 2.5 MB begin and end, and
 * compiling those that a start calls, is a third of its CPU; V8 can keep what it has made of a script, though not of a module, so
 * the launcher is bundled as one. What it kept holds for one version of V8 and its flags, and stands in a file named by them, which
 * the build writes for the Node it runs on (`code-cache.js`); without it all is the same and takes longer.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Of what V8 has made of the script. */
export const cache = beside(`./cli.${cachedDataVersionTag()}.cache`)

function cached (): { cachedData?: Buffer } {
  try {
    return { cachedData: readFileSync(cache) }
  } catch {
    return {}
  }
}

const filename = beside('./cli.cjs')
// It is ASCII alone, as `bundle.js` sees to: read as what it might be otherwise, a start takes a twentieth longer.
export const script = new Script(readFileSync(filename, 'latin1'), { filename, ...cached() })
/** What a script has in place of `import.meta` and imports; `bundle.js` writes the other side. */
type Main = (require: NodeJS.Require, url: string, file: string, folder: string) => void
const main = script.runInThisContext() as Main
main(createRequire(import.meta.url), import.meta.url, filename, dirname(filename))
