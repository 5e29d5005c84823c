/**
 * Runs test files, one after the other in this process, so that common modules are loaded and optimized once. A comment
 * before each file names it, and one after it has its CPU. An environment variable lists the files, because tap derives
 * folder names from arguments.
 */
import asyncHooks from 'node:async_hooks'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { COST, FILES, MARK } from './batches.js'
import { cpuSpent } from './cpu.js'

/**
 * Tap follows every promise to the test that made it, to blame that test for an error nobody catches: a quarter of all
 * CPU. Here the file that runs is to blame, as its name precedes the failure.
 */
async function tapWithoutHooks (): Promise<typeof import('tap').default> {
  const { createHook } = asyncHooks
  const without: ReturnType<typeof createHook> = { enable: () => without, disable: () => without }
  asyncHooks.createHook = () => without
  syncBuiltinESMExports()
  const { default: t } = await import('tap') // its root test creates the hook
  asyncHooks.createHook = createHook
  syncBuiltinESMExports()
  return t
}

const t = await tapWithoutHooks()
process.on('uncaughtException', error => { t.error(error, 'nothing caught an error') })
// Otherwise tap ends when a file waits for something before its first test, once another has set up something to tear
// down.
t.removeAllListeners('idle')
// tap names folders of fixtures after this program, which runs several times at once.
t.testdirName = `${t.testdirName}-${process.pid}`
let before = 0 // the first file pays for what all load
for (const file of process.env[FILES]?.split(' ') ?? []) {
  t.comment(`${MARK}${file}`)
  await import(pathToFileURL(resolve(file)).href)
  // A test may have changed something global, such as the clock, which the next file must not see when it is loaded.
  if (!t.idle) await once(t, 'idle')
  t.comment(`${COST}${(cpuSpent() - before).toFixed(2)} ${file}`)
  before = cpuSpent()
}
t.end()
// Node 20 may spin for ever when it closes what is left at its natural end; process.exit() closes nothing.
// https://github.com/nodejs/node/issues/47748
process.once('beforeExit', () => { process.exit() })
