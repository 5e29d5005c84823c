import t from 'tap'
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { authority } from './serving/authority.js'
import { freePort } from './ports.js'

const CLI = fileURLToPath(new URL('../bundle/cli.js', import.meta.url))

interface Ended { code: number | null, signal: NodeJS.Signals | null, out: string, err: string }

interface Child {
  process: ChildProcess
  /** Standard error so far. */
  err: () => string
  ended: Promise<Ended>
}

function launch (test: { teardown: (end: () => unknown) => void }, ...args: string[]): Child {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.on('data', (piece: Buffer) => { out += piece.toString() })
  child.stderr.on('data', (piece: Buffer) => { err += piece.toString() })
  const ended = new Promise<Ended>(resolve =>
    child.once('close', (code, signal) => resolve({ code, signal, out, err })))
  test.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { process: child, err: () => err, ended }
}

interface Answer { status: number, body: string, headers: IncomingMessage['headers'] }

async function call (
  port: number,
  path: string,
  options: {
    method?: string
    headers?: Record<string, string>
    agent?: Agent
    body?: string
    cert?: string
    key?: string
  } = {}
): Promise<Answer> {
  const { body: sent, ...rest } = options
  const request = httpsRequest({
    port, host: '127.0.0.1', path, rejectUnauthorized: false, agent: new Agent({ keepAlive: false }), ...rest
  })
  request.end(sent)
  const [response] = await once(request, 'response') as [IncomingMessage]
  let body = ''
  for await (const piece of response) body += String(piece)
  return { status: response.statusCode ?? 0, body, headers: response.headers }
}

/** Starts a server on a free port and waits until it is ready. */
async function serve (test: { teardown: (end: () => unknown) => void, testdir: () => string }, ...args: string[]) {
  const port = await freePort()
  const folder = test.testdir()
  const child = launch(
    test, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${join(folder, 'data')}`,
    `--cert-dir=${join(folder, 'certs')}`, ...args
  )
  for (;;) {
    const state = await Promise.race([
      call(port, '/readyz').then(({ status }) => status === 200 ? 'ready' : 'waiting', () => 'waiting'),
      child.ended.then(({ err }) => { throw new Error(`the server ended: ${err}`) })
    ])
    if (state === 'ready') return { ...child, port, folder }
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

t.test('--help and --version print and exit 0', async t => {
  const help = await launch(t, '--help', '--secure-port=1').ended
  t.match(help, { code: 0, err: '', out: /Secure serving:\n[^]*--secure-port int/ })
  const version = await launch(t, '--version').ended
  t.match(version, { code: 0, err: '', out: /^orch-apiserver \d+\.\d+\.\d+, serves the interface of release 1.24\n$/ })
  t.match(await launch(t, '-h').ended, { code: 0 })
})

t.test('a start that fails ends with exit code 1 and one line that names the flag', async t => {
  const folder = t.testdir({ file: '' })
  const port = await freePort()
  const common = [`--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${folder}/data`]
  for (const [args, message] of [
    [['--nope'], /^orch-apiserver: unknown flag --nope/],
    [['--secure-port=0'], /^orch-apiserver: --secure-port=0: /],
    [['--authorization-mode=Nodes'], /^orch-apiserver: --authorization-mode=Nodes: /],
    [
      [...common, `--tls-cert-file=${folder}/none`, `--tls-private-key-file=${folder}/none`],
      /^orch-apiserver: --tls-cert-file=.*there is no such file/
    ],
    [[...common, `--cert-dir=${folder}/file`], /^orch-apiserver: --cert-dir=/],
    // In /proc nothing can be created; the system reports ENOENT whatever is tried.
    [
      [`--secure-port=${port}`, '--data-dir=/proc/no/such/dir', `--cert-dir=${folder}/certs`],
      /^orch-apiserver: --data-dir=/
    ],
    [[...common, '--cert-dir=/proc/no/such/dir'], /^orch-apiserver: --cert-dir=/],
    [
      [...common, `--cert-dir=${folder}/certs`, '--audit-log-path=/proc/no/such/dir/audit.log'],
      /^orch-apiserver: --audit-log-path=/
    ],
    [
      ['--bind-address=192.0.2.1', `--secure-port=${port}`, `--data-dir=${folder}/data`, `--cert-dir=${folder}/certs`],
      /^orch-apiserver: --bind-address=192.0.2.1: this host has no such address/
    ]
  ] as const) {
    const { code, err, out } = await launch(t, ...args).ended
    t.equal(code, 1, args.join(' '))
    t.match(err, message)
    t.match(err, /^[^\n]+\n$/, 'one line')
    t.equal(out, '')
  }
})

t.test('SIGTERM ends a start, even one that hangs in a system call', async t => {
  const folder = t.testdir({ data: {} })
  // Its store is a pipe that nobody writes to, so the process only waits for that.
  execFileSync('mkfifo', [join(folder, 'data', 'data.mdb')])
  const { process: child, ended } = launch(
    t, `--secure-port=${await freePort()}`, '--bind-address=127.0.0.1', `--cert-dir=${folder}/certs`,
    `--data-dir=${folder}/data`
  )
  const early = ended.then(({ err }) => { throw new Error(`it ended by itself: ${err}`) })
  while (!existsSync(join(folder, 'data', 'data.mdb-lock'))) {
    await Promise.race([new Promise(resolve => { setTimeout(resolve, 5) }), early])
  }
  child.kill('SIGTERM')
  t.match(await ended, { signal: 'SIGTERM', out: '' })
  await early.catch(() => {})
})

t.test('SIGTERM right after the first connection is accepted shuts down cleanly', async t => {
  const port = await freePort()
  const folder = t.testdir()
  const { process: child, ended } = launch(
    t, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${folder}/data`, `--cert-dir=${folder}/certs`
  )
  const accepted = async (): Promise<boolean> => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    const reached = await once(socket, 'secureConnect').then(() => true, () => false)
    socket.destroy()
    return reached
  }
  while (child.exitCode === null && !await accepted()) await new Promise(resolve => { setTimeout(resolve, 1) })
  child.kill('SIGTERM')
  t.match(await ended, { code: 0, signal: null, err: /SIGTERM: shutting down\n[^]*shutdown complete/ })
})

t.test('a port that is in use is named', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const folder = t.testdir()
  const ended = await launch(
    t, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${folder}/data`, `--cert-dir=${folder}/certs`
  ).ended
  t.equal(ended.code, 1)
  t.match(ended.err, new RegExp(`^orch-apiserver: --secure-port=${port}: the port is in use[^\n]*\n$`))
})

t.test('the start warns of AlwaysAllow even behind another mode, because it decides', async t => {
  const { err, process: child, ended, port } = await serve(t, '--authorization-mode=AlwaysDeny,AlwaysAllow')
  t.equal((await call(port, '/api/v1/namespaces')).status, 200)
  t.match(err(), /WARN {2}.*everybody who reaches this address may do everything/)
  child.kill('SIGTERM')
  await ended
})

t.test('without anonymous requests the start does not warn, and tokens and certificates are required', async t => {
  const ca = authority()
  const alice = ca.issue({ commonName: 'alice', organizations: ['devs'], uses: ['client'] })
  const files = t.testdir({ tokens: 'sesame,bob,1\n', ca: ca.certificate })
  const port = await freePort()
  const child = launch(
    t, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${files}/data`, `--cert-dir=${files}/certs`,
    '--anonymous-auth=false', `--token-auth-file=${files}/tokens`, `--client-ca-file=${files}/ca`
  )
  while (!child.err().includes('serving on')) {
    await Promise.race([
      once(child.process.stderr as NodeJS.ReadableStream, 'data'),
      child.ended.then(({ err }) => { throw new Error(err) })
    ])
  }
  t.notMatch(child.err(), /everybody/)
  t.equal((await call(port, '/version')).status, 401)
  t.equal((await call(port, '/version', { headers: { authorization: 'Bearer sesame' } })).status, 200)
  t.equal((await call(port, '/version', { headers: { authorization: 'Bearer wrong' } })).status, 401)
  t.equal((await call(port, '/version', { cert: alice.certificate, key: alice.key })).status, 200)
  const stranger = authority('stranger').issue({ commonName: 'alice', uses: ['client'] })
  const refused = await call(port, '/version', { cert: stranger.certificate, key: stranger.key })
  t.equal(refused.status, 401)
  t.equal(JSON.parse(refused.body).reason, 'Unauthorized')
  t.notMatch(child.err(), /sesame/)
})

async function session (test: { teardown: (end: () => unknown) => void }, port: number): Promise<ClientHttp2Session> {
  const opened = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  opened.on('error', () => {})
  test.teardown(() => opened.destroy())
  await once(opened, 'connect')
  return opened
}

t.test('flags of the connection reach the listener', async t => {
  const { port } = await serve(
    t, '--http2-max-streams-per-connection=7',
    '--tls-cipher-suites=TLS_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', '--goaway-chance=0.02'
  )
  const h2 = await session(t, port)
  const modern = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(modern, 'secureConnect')
  t.equal(modern.getCipher().name, 'TLS_AES_256_GCM_SHA384')
  modern.destroy()
  const refused = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ciphers: 'TLS_AES_128_GCM_SHA256' })
  await t.rejects(once(refused, 'secureConnect'))
  // One request in fifty on average: five thousand without one are practically impossible.
  const goaways: number[] = []
  h2.on('goaway', code => { goaways.push(code) })
  for (let at = 0; at < 5000 && goaways.length === 0; at++) {
    const stream = h2.request({ ':path': '/livez' })
    stream.resume()
    await once(stream, 'close')
    if (at === 0) t.equal(h2.remoteSettings.maxConcurrentStreams, 7)
  }
  // The client gets it twice if it closes its side before the server closes its own.
  t.strictSame([...new Set(goaways)], [0], 'clients get GOAWAY')
})

t.test('a server without further flags', async t => {
  const { err, process: child, ended, port, folder } = await serve(t)

  await t.test('the start logs the address and the store, and warns when everybody may do everything', async t => {
    t.match(
      err(), `serving on https://127.0.0.1:${port}, store: embedded in ${folder}/data, authorization: AlwaysAllow`
    )
    t.match(err(), /WARN {2}.*everybody who reaches this address may do everything/)
    t.ok(existsSync(join(folder, 'certs', 'apiserver.key')))
  })

  await t.test('a path that cannot be decoded is answered with a Status', async t => {
    for (const path of ['/api/v1/%zz', '/%', `/api/v1/namespaces/${'x'.repeat(3000)}`]) {
      const { status, body, headers } = await call(port, path)
      t.ok(status >= 400 && status < 500, `${path.slice(0, 30)} ${status}`)
      t.match(JSON.parse(body), { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status })
      t.equal(headers['cache-control'], 'no-cache, private')
    }
  })

  await t.test('a second server on the same data is refused, and the first one is named', async t => {
    const port = await freePort()
    const { code, err } = await launch(
      t, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${folder}/data`, `--cert-dir=${folder}/certs`
    ).ended
    t.equal(code, 1)
    t.match(err, new RegExp(`^orch-apiserver: --data-dir=[^\n]*data: [^\n]*in use[^\n]*${child.pid}[^\n]*\n$`))
  })

  await t.test('SIGUSR1 makes it report its activity, and SIGHUP does not end it', async t => {
    const said = async (what: RegExp): Promise<void> => {
      while (!what.test(err())) await new Promise(resolve => { setTimeout(resolve, 10) })
    }
    child.kill('SIGUSR1')
    await said(/INFO {2}diagnostic report uptimeSeconds=\d+ rss=\d+ /)
    await said(/INFO {2}diagnostic report cache=namespaces loaded=true objects=\d+ revision=\d+ watches=\d+/)
    child.kill('SIGHUP')
    await said(/INFO {2}SIGHUP: ignored/)
    t.equal((await call(port, '/readyz')).status, 200)
    t.notMatch(err(), /Debugger listening/)
  })

  await t.test('SIGTERM ends watches cleanly on both versions of HTTP, finishes, and exits 0', async t => {
    const path = '/api/v1/namespaces?watch=1&resourceVersion=0'
    const watching = httpsRequest({
      port, host: '127.0.0.1', path, rejectUnauthorized: false, agent: new Agent({ keepAlive: true })
    })
    watching.end()
    const [first] = await once(watching, 'response') as [IncomingMessage]
    const events = first[Symbol.asyncIterator]()
    await events.next()
    const h2 = await session(t, port)
    const stream = h2.request({ ':path': path })
    const pieces = stream[Symbol.asyncIterator]()
    await pieces.next()
    child.kill('SIGTERM')
    while ((await events.next()).done !== true); // a cut connection would reject here
    while ((await pieces.next()).done !== true);
    t.equal(stream.rstCode, 0)
    t.match(await ended, { code: 0, signal: null })
  })
})

t.test('during the delay the server serves and is unready; a second signal ends it at once', async t => {
  const { process: child, ended, port } = await serve(t, '--shutdown-delay-duration=1h')
  child.kill('SIGTERM')
  for (;;) {
    const { status, body } = await call(port, '/readyz')
    if (status === 200) continue
    t.equal(status, 500)
    t.match(body, /\[-\]shutdown failed: reason withheld\n/)
    break
  }
  t.equal((await call(port, '/livez')).status, 200)
  t.equal((await call(port, '/healthz')).status, 200)
  child.kill('SIGINT') // a duplicate of the first signal, as npm forwards it
  t.equal((await call(port, '/version')).status, 200)
  await new Promise(resolve => { setTimeout(resolve, 600) })
  t.equal((await call(port, '/version')).status, 200, 'the echo of a signal ends nothing')
  child.kill('SIGTERM')
  t.match(await ended, { code: 1 })
})

t.test('while draining with --shutdown-send-retry-after new requests get 429', async t => {
  const { process: child, ended, port } = await serve(t, '--shutdown-send-retry-after')
  // A request with an incomplete body holds up the drain.
  const slow = httpsRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/v1/namespaces',
    rejectUnauthorized: false,
    headers: { 'content-type': 'application/json', 'content-length': '100' }
  })
  slow.on('error', () => {})
  slow.write('{')
  const [socket] = await once(slow, 'socket') as [Socket]
  if (socket.connecting) await once(socket, 'secureConnect')
  await new Promise<void>(resolve => { slow.write(' ', () => resolve()) })
  while (!/request_kind="mutating"\} 1/.test((await call(port, '/metrics')).body));
  child.kill('SIGTERM')
  let answer = await call(port, '/version')
  while (answer.status === 200) answer = await call(port, '/version')
  t.equal(answer.status, 429)
  t.match(answer.headers['retry-after'], /^\d+$/)
  t.equal(answer.headers.connection, 'close')
  t.equal(JSON.parse(answer.body).reason, 'TooManyRequests')
  slow.end(' '.repeat(97) + '}')
  const [response] = await once(slow, 'response') as [IncomingMessage]
  response.resume()
  t.equal(response.statusCode, 422, 'the request under way got its answer')
  t.match(await ended, { code: 0 })
})

t.test('the audit log is written to a file, and -v=3 logs a line per request', async t => {
  const folder = t.testdirName
  const { process: child, ended, port, err } = await serve(t, `--audit-log-path=${join(folder, 'audit.log')}`, '-v=3')
  await call(port, '/version?access_token=sesame%0A')
  child.kill('SIGINT')
  await ended
  t.match(readFileSync(join(folder, 'audit.log'), 'utf8'), /"requestURI":"\/version\?[^\n]*"code":200/)
  t.match(err(), /INFO {2}request method=GET url="\/version\?access_token=…" status=200/)
})

t.test('the certificate of --tls-cert-file is served', async t => {
  const ca = authority()
  const pair = ca.issue({ commonName: 'server', names: ['localhost', '127.0.0.1'], uses: ['server'] })
  const folder = t.testdir({ crt: pair.certificate, key: pair.key })
  const port = await freePort()
  const child = launch(
    t, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--data-dir=${folder}/data`,
    `--tls-cert-file=${folder}/crt`, `--tls-private-key-file=${folder}/key`
  )
  while (!child.err().includes('serving on')) {
    await Promise.race([
      once(child.process.stderr as NodeJS.ReadableStream, 'data'),
      child.ended.then(({ err }) => { throw new Error(err) })
    ])
  }
  const request = httpsRequest({ port, host: '127.0.0.1', path: '/version', ca: ca.certificate })
  request.end()
  const [response] = await once(request, 'response') as [IncomingMessage]
  t.equal(response.statusCode, 200)
  response.resume()
})

t.test('an older Node ends with one line, the build too; the oldest supported version is that of package.json', t => {
  const { engines } = JSON.parse(readFileSync(
    fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'
  )) as { engines: { node: string } }
  t.equal(engines.node, '>=20.19')
  const versionAs = (node: string, program = CLI): { status: number | null, stdout: string, stderr: string } => {
    const preload = 'data:text/javascript,' +
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`
    return spawnSync(process.execPath, ['--import', preload, program, '--version'], { encoding: 'utf8' })
  }
  for (const old of ['18.20.8', '20.18.3']) {
    t.match(versionAs(old), {
      status: 1, stdout: '', stderr: `orch-apiserver: needs Node 20.19 or newer, this is ${old}\n`
    })
  }
  t.match(
    versionAs('18.20.8', fileURLToPath(new URL('../../build/protobuf.js', import.meta.url))),
    { status: 1, stderr: 'orch-apiserver: needs Node 20.19 or newer, this is 18.20.8\n' }
  )
  for (const fine of ['20.19.0', '24.0.0']) t.match(versionAs(fine), { status: 0, stdout: /^orch-apiserver / })
  t.end()
})
