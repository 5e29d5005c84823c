#!/usr/bin/env -S node --min-semi-space-size=24 --max-semi-space-size=32 --no-allocation-site-pretenuring
/**
 * The command's entry: runs the bundled `cli.ts` with V8's code cache. Parsing and compiling 2.5 MB is a third of the
 * start's CPU. V8 can cache scripts but not modules, so the launcher is bundled as a script. `code-cache.js` writes a
 * cache for the Node that builds; its name contains Node's version and V8's flags. Without a matching cache the start
 * is slower. The flags in the first line must equal those of `npm start`; `test/package.test.ts` compares them.
 */
import './node-version.js' // first, before an old Node parses anything it does not support
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/**
 * The code cache file. V8's tag is the same for all releases of Node 20, but the cache of another release ends the
 * process with SIGSEGV.
 */
export const cache = beside(`./cli.${process.version}-${cachedDataVersionTag()}.cache`)

function cached (): { cachedData?: Buffer } {
  try {
    return { cachedData: readFileSync(cache) }
  } catch {
    return {}
  }
}

const filename = beside('./cli.cjs')
// `bundle.js` ensures ASCII: decoding as UTF-8 would slow the start by a twentieth.
export const script = new Script(readFileSync(filename, 'latin1'), { filename, ...cached() })
/** Replaces `import.meta` and imports in the script; `bundle.js` writes the wrapper. */
type Main = (require: NodeJS.Require, url: string, file: string, folder: string) => void
const main = script.runInThisContext() as Main
main(createRequire(import.meta.url), import.meta.url, filename, dirname(filename))
