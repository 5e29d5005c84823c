/**
 * Several processes must look like one server from outside. Over the embedded store; `over-etcd.test.ts` covers etcd.
 */
import t from 'tap'
import { readFileSync, readdirSync } from 'node:fs'
import { connect } from 'node:tls'
import { connect as connectHttp2 } from 'node:http2'
import { join } from 'node:path'
import { ask, CONFIGS, eventually, kept, several, sockets, total, versionOf } from './server.js'

const COUNT = 3
const object = (name: string, size = 10): string =>
  JSON.stringify({ metadata: { name }, data: { text: 'x'.repeat(size) } })

t.test('several processes are one server', { timeout: 300_000 }, async t => {
  const folder = t.testdir()
  const server = await several(t, COUNT, [
    `--audit-log-path=${folder}/audit.log`, '--audit-log-maxsize=1', '--audit-log-mode=blocking',
    '--request-timeout=8s', '--profiling=true'
  ])
  const { port, children, pidOf } = server
  const store = pidOf('store')
  const serving = ['1', '2', '3'].map(pidOf)
  t.equal(children().length, COUNT + 1)

  await t.test('connections are spread evenly', async t => {
    const before = serving.map(sockets)
    const agents = Array.from({ length: 60 }, () => kept(t))
    for (const answer of await Promise.all(agents.map(agent => ask(port, 'GET', '/version', undefined, agent)))) {
      t.equal(answer?.code, 200)
    }
    const shares = serving.map((pid, at) => sockets(pid) - (before[at] ?? 0))
    t.ok(shares.every(share => Math.abs(share - 60 / COUNT) <= 0.2 * 60 / COUNT), `${shares.join(', ')}`)
  })

  await t.test('a write through one process is visible in reads through another', async t => {
    const agents = Array.from({ length: COUNT }, () => kept(t))
    for (let round = 0; round < 30; round++) {
      const writer = agents[round % COUNT]
      const created = await ask(port, 'POST', CONFIGS, object(`read-${round}`), writer)
      t.equal(created?.code, 201)
      for (const agent of agents) {
        t.equal(
          versionOf((await ask(port, 'GET', `${CONFIGS}/read-${round}`, undefined, agent))?.text ?? ''),
          versionOf(created?.text ?? '')
        )
      }
    }
  })

  await t.test('/metrics has the requests of all processes, and what each has of its own', async t => {
    const agents = Array.from({ length: COUNT * 2 }, () => kept(t))
    const counted = async (): Promise<number> => total(
      (await ask(port, 'GET', '/metrics'))?.text ?? '',
      /^apiserver_request_total\{verb="GET",[^\n]*resource="secrets".*$/gm
    )
    const before = await counted()
    for (const agent of agents) await ask(port, 'GET', '/api/v1/namespaces/default/secrets/none', undefined, agent)
    t.equal(await counted() - before, agents.length)
    const { text = '' } = await ask(port, 'GET', '/metrics') ?? {}
    t.same(
      [...text.matchAll(/^process_resident_memory_bytes\{process="(.*)"\}/gm)].map(([, name]) => name).sort(),
      ['1', '2', '3', 'store']
    )
    t.equal(total(text, /^orch_build_info\{.*$/gm), 1)
    t.match(text, /^apiserver_storage_objects\{resource="namespaces"\} \d$/m)
    t.equal(text.match(/^# TYPE apiserver_request_total /gm)?.length, 1)
  })

  await t.test('each event of the audit log is one whole line, and rotated files too', async t => {
    await Promise.all(Array.from({ length: 32 }, async (_, writer) => {
      const agent = kept(t)
      for (let at = 0; at < 30; at++) {
        t.equal(
          (await ask(
            port, 'GET',
            `${CONFIGS}?watch=0&labelSelector=a%3D${'x'.repeat(60)}&writer=${writer}-${at}-${'y'.repeat(1000)}`,
            undefined, agent
          ))?.code,
          200
        )
      }
    }))
    const files = (): string[] => readdirSync(folder).filter(name => name.startsWith('audit'))
    await eventually('the log is rotated', () => files().length > 1)
    const seen = new Set<string>()
    for (const name of files()) {
      const text = readFileSync(join(folder, name), 'utf8')
      if (text === '') continue // just rotated
      for (const line of text.trimEnd().split('\n')) {
        const { stage, requestURI } = JSON.parse(line) as { stage: string, requestURI: string }
        const writer = /writer=(\d+-\d+)-/.exec(requestURI)?.[1]
        if (writer !== undefined && stage === 'ResponseComplete') seen.add(writer)
      }
    }
    t.equal(seen.size, 32 * 30)
  })

  await t.test('the verbosity changes in all processes', async t => {
    t.equal((await ask(port, 'PUT', '/debug/flags/v', '4', false, { 'content-type': 'text/plain' }))?.code, 200)
    await eventually('all log requests', async () => {
      for (let at = 0; at < COUNT; at++) await ask(port, 'GET', '/version')
      return ['1', '2', '3'].every(name => new RegExp(`GET.*process=${name}|process=${name}.*GET`).test(server.log()))
    })
    t.equal((await ask(port, 'PUT', '/debug/flags/v', '0'))?.code, 200)
  })

  await t.test('SIGUSR1 makes each process report, and SIGTERM to one of them does nothing', async t => {
    server.process.kill('SIGUSR1')
    await eventually('all report', () =>
      ['1', '2', '3'].every(name => new RegExp(`diagnostic report.*process=${name} `).test(server.log())))
    for (const pid of children()) process.kill(pid, 'SIGTERM')
    t.equal((await ask(port, 'GET', '/readyz'))?.code, 200)
    t.same(children().sort(), [store, ...serving].sort())
  })

  await t.test('a connection that sends no request in time is ended', async t => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    socket.on('error', () => {})
    let answer = ''
    socket.on('data', (text: Buffer) => { answer += text.toString() })
    socket.write('GET /version HTTP/1.1\r\nHost: x\r\n')
    await new Promise<void>(resolve => { socket.once('close', () => { resolve() }) })
    t.match(answer, /^HTTP\/1\.1 408 /)
  })

  await t.test('sessions of TLS are resumed at any process', async t => {
    let session: Buffer | undefined
    const resumed: boolean[] = []
    for (let at = 0; at <= COUNT; at++) {
      const socket = connect({
        port,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        ALPNProtocols: ['http/1.1'],
        maxVersion: 'TLSv1.2',
        ...(session === undefined ? {} : { session })
      })
      await new Promise<void>(resolve => { socket.once('secureConnect', () => { resolve() }) })
      if (session !== undefined) resumed.push(socket.isSessionReused())
      session ??= socket.getSession()
      socket.destroy()
    }
    t.same(resumed, [true, true, true])
  })

  await t.test('SIGTERM lets all finish what they do, then all end with exit code 0', async t => {
    const sessions = Array.from(
      { length: COUNT * 2 }, () => connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    )
    const watches = await Promise.all(sessions.map(async session => {
      session.on('error', () => {})
      const stream = session.request({ ':path': `${CONFIGS}?watch=1`, authorization: 'Bearer benchmark-token' })
      const ended = new Promise<number>(resolve => { stream.once('close', () => { resolve(stream.rstCode) }) })
      stream.resume()
      await new Promise(resolve => { stream.once('response', resolve) })
      return { ended } // a promise alone would be awaited
    }))
    server.process.kill('SIGTERM')
    t.same(await Promise.all(watches.map(({ ended }) => ended)), watches.map(() => 0), 'each watch ends as it should')
    t.equal(await server.exit, 0)
    t.match(server.log(), /SIGTERM: shutting down\n(.*\n)*.*shutdown complete\n$/)
    t.equal(server.log().match(/shutting down/g)?.length, 1)
    for (const pid of [store, ...serving]) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  })
})
