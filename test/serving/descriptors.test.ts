/** The server under a small limit of open files: it reports the shortage, continues, and recovers by itself. */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { RunningServer, until } from '../interop/server.js'

const LIMIT = 256
const SILENT = 240
const SCARCE = fileURLToPath(new URL('scarce-descriptors.js', import.meta.url))

t.test('idle connections do not exhaust the server for other clients', async t => {
  const server = await RunningServer.start(t, [], '/readyz', LIMIT)
  const open = (): number => readdirSync(`/proc/${server.pid}/fd`).length
  await until('idle connections of the start to end', async () => open() < 60)
  const before = open()
  const crowd = async (): Promise<Socket[]> => await Promise.all(Array.from({ length: SILENT }, async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }))
  for (const leave of [false, true]) {
    const sockets = await crowd()
    await until('as many as there is room for', () => open() > LIMIT / 2)
    t.ok(open() < LIMIT - 20, `room is left for what is no connection: ${open()}`)
    if (leave) for (const socket of sockets) socket.destroy()
    await until('their descriptors', () => open() <= before + 2)
    t.equal((await server.ask('/readyz')).code, 200, 'it serves again')
  }
  t.match(server.log, /ERROR .*connection limit reached: new connections are closed until others end.*open files limit/)
  t.equal(server.log.split('connection limit reached').length - 1, 1, 'and this is logged once, not per connection')
  t.notMatch(server.log, /uncaught|unhandled/)
})

t.test('modules that could not be loaded for lack of descriptors are loaded when they are free again', async t => {
  const output = execFileSync(
    'sh', ['-c', 'ulimit -n 1024 && exec "$0" "$@"', process.execPath, SCARCE],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }
  )
  const { out, back, exhausted } = JSON.parse(output) as {
    out: Record<string, number>
    back: Record<string, number>
    exhausted: string[]
  }
  t.ok(exhausted.length > 0 && exhausted.every(code => code === 'EMFILE'), 'it is noticed')
  t.match(out, { get: 200 }, 'responses from memory need no descriptor')
  t.match(Object.keys(out), ['get', 'metrics', 'yaml', 'openapi'])
  t.equal(out['metrics'], 500, 'the descriptors were out indeed')
  t.same(back, { get: 200, metrics: 200, yaml: 201, openapi: 200 })
})
