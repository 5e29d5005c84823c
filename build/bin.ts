#!/usr/bin/env -S node --min-semi-space-size=24 --max-semi-space-size=32 --no-allocation-site-pretenuring
/**
 * The command's entry: runs the bundled `cli.ts` with V8's code cache. Parsing and compiling 2.5 MB is a third of the start's CPU. V8 can cache
 * scripts but not modules, so the launcher is bundled as a script. `code-cache.js` writes a cache for the Node that builds; its name contains V8's
 * version and flags. Without a matching cache the start is slower. The flags in the first line must equal those of `npm start`;
 * `test/package.test.ts` compares them.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

/** Keep in sync with `engines` of package.json. Checked here, before an old Node parses anything it does not support. */
const [MAJOR, MINOR] = [20, 19]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
  process.stderr.write(`orch-apiserver: needs Node ${MAJOR}.${MINOR} or newer, this is ${process.versions.node}\n`)
  process.exit(1)
}

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The code cache file. */
export const cache = beside(`./cli.${cachedDataVersionTag()}.cache`)

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
