/**
 * Runs test files one after the other in this process: what they import is loaded and optimized once. A comment before each says
 * which file follows. They are named by a variable, as tap makes names of folders out of arguments.
 */
import t from 'tap'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FILES, MARK } from './batches.js'

// Otherwise tap ends when a file waits for something before its first test, once another has set up something to tear down.
t.removeAllListeners('idle')
for (const file of process.env[FILES]?.split(' ') ?? []) {
  t.comment(`${MARK}${file}`)
  await import(pathToFileURL(resolve(file)).href)
}
t.end()
