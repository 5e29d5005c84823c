// `npm run dev -- FLAGS`: runs the server from its sources and restarts it after each change. Types are not checked;
// `npm run build` does.
import { context } from 'esbuild'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { common, root } from './bundling.js'
import { watchSources } from './source-watch.js'

const program = join(root, 'dist/dev/cli.js')
let server
let stopping

/** A server that is still ending keeps its port and its store. */
async function stop () {
  const ending = server
  if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
  const exited = new Promise(resolve => { ending.once('exit', resolve) })
  ending.kill('SIGTERM')
  await exited
}

function restart () {
  stopping = (stopping ?? Promise.resolve()).then(stop).then(() => {
    server = spawn(
      process.execPath,
      ['--enable-source-maps', program, '--local', '--shutdown-delay-duration=0', ...process.argv.slice(2)],
      { stdio: 'inherit' }
    )
  })
}

const bundles = await context({
  ...common,
  entryPoints: {
    cli: 'cli.ts', 'text-worker': 'schemas/codec/text-worker.ts', 'stall-worker': 'serving/processes/stall-worker.ts'
  },
  outdir: join(root, 'dist/dev'),
  format: 'esm',
  packages: 'external' // a rebuild is twice as fast
})

/** esbuild joins a call to the rebuild that runs, which may have read the file before its change. */
let building = Promise.resolve()
/** On an error, which esbuild prints, the last good build keeps running. */
const rebuild = () => { building = building.then(() => bundles.rebuild()).then(restart, () => {}) }

const { metafile } = await bundles.rebuild()
const unwatch = watchSources(root, Object.keys(metafile.inputs), rebuild)
restart()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    unwatch()
    Promise.all([bundles.dispose(), stop()]).then(() => process.exit(0), () => process.exit(1))
  })
}
