// `npm run dev -- FLAGS`: runs the server from its sources and restarts it after each change. Types are not checked; `npm run build` does.
import { context } from 'esbuild'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { common, MODULE_BANNER, root } from './bundling.js'

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

function restart ({ errors }) {
  if (errors.length > 0) return // esbuild has shown them; the last good build keeps running
  stopping = (stopping ?? Promise.resolve()).then(stop).then(() => {
    server = spawn(process.execPath, ['--enable-source-maps', program, '--local', '--shutdown-delay-duration=0', ...process.argv.slice(2)], { stdio: 'inherit' })
  })
}

const watching = await context({
  ...common,
  plugins: [...common.plugins, { name: 'restart', setup: ({ onEnd }) => { onEnd(restart) } }],
  entryPoints: { cli: 'cli.ts', 'text-worker': 'schemas/codec/text-worker.ts' },
  outdir: join(root, 'dist/dev'),
  format: 'esm',
  splitting: true,
  banner: { js: MODULE_BANNER }
})
await watching.watch()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => { Promise.all([watching.dispose(), stop()]).then(() => process.exit(0), () => process.exit(1)) })
}
