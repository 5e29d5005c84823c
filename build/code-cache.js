/**
 * Build step: starts the bundled server on a temporary store, sends some requests, and writes V8's code cache beside
 * the bundle for `bin.ts`.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** Ends the build if the server does not become ready or respond. */
const DEADLINE = AbortSignal.timeout(60_000)
DEADLINE.addEventListener('abort', () => process.exit(1))

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Returns the status code, or undefined on a connection error. */
const ask = (port, path, method = 'GET', body = undefined) => new Promise(resolve => {
  const sent = request({
    port,
    path,
    method,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    agent: false,
    headers: body === undefined ? {} : { 'content-type': 'application/json' }
  }, answer => {
    answer.resume().on('end', () => resolve(answer.statusCode))
  })
  sent.on('error', () => resolve(undefined))
  sent.end(body)
})

const folder = mkdtempSync(join(tmpdir(), 'orch-code-cache-'))
const port = await freePort()
process.argv.splice(
  2, Infinity, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${folder}`,
  `--data-dir=${join(folder, 'data')}`, '--emulated-version=1.36' // runs what 1.24 runs, and more
)
process.stderr.write = () => true // discard its log
const { cache, script } = await import('../dist/bundle/cli.js')
while (await ask(port, '/readyz') !== 200) await setTimeout(5, undefined, { signal: DEADLINE })
const collection = '/api/v1/namespaces/default/configmaps'
for (const path of ['/api', '/apis', '/api/v1', '/apis/apps/v1', collection, '/version']) await ask(port, path)
await ask(port, collection, 'POST', JSON.stringify({ metadata: { name: 'a' }, data: { key: 'value' } }))
writeFileSync(cache, script.createCachedData())
rmSync(folder, { recursive: true, force: true })
process.exit(0)
