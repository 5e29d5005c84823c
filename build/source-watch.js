// Calls back when a source changes, at once: esbuild's own watch polls and takes seconds.
import { watch } from 'node:fs'
import { join } from 'node:path'

/** Milliseconds in which changes count as one; editors write a file in several steps. */
const SETTLING = 30

/**
 * @param inputs paths of sources relative to `root`; their folders are watched whole, so that a new file counts too
 * @returns a function that ends it
 */
export function watchSources (root, inputs, changed) {
  let timer
  const report = () => {
    clearTimeout(timer)
    timer = setTimeout(changed, SETTLING)
  }
  const tops = new Set(inputs.filter(path => !path.startsWith('node_modules/') && !path.startsWith('dist/'))
    .map(path => path.split('/', 1)[0]))
  const folders = [...tops].filter(name => inputs.some(path => path.startsWith(`${name}/`)))
  const watchers = [
    ...folders.map(name => watch(join(root, name), { recursive: true }, report)),
    watch(root, (_event, name) => { if (tops.has(name)) report() })
  ]
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
