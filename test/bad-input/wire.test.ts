import t from 'tap'
import { once } from 'node:events'
import { connect, type OutgoingHttpHeaders, type ClientHttp2Session } from 'node:http2'
import { BINDINGS, binding, type Json } from '../build.js'
import { RunningServer, TOKEN } from '../interop/server.js'
import { ownTime } from '../own-time.js'
import { fault } from './refusal.js'
import { Wire, send } from './wire.js'

const SECRET = 'not-a-token-of-anybody'
const HEAD = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\n`
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`
const get = (target: string, headers = HEAD): string => `GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`
const post = (headers: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`POST ${BINDINGS} HTTP/1.1\r\n${JSON_HEAD}${headers}\r\n`), Buffer.from(body)])

t.test('on the wire', async t => {
  const server = await RunningServer.start(t, ['--request-timeout=2s', '-v=6'])
  const { port } = server
  const still = async (title: string): Promise<void> => {
    t.equal((await server.ask('/readyz')).code, 200, `${title}: the server serves on`)
  }

  t.test('targets that name nothing are refused with a Status', async t => {
    const refused: Array<readonly [string, readonly number[]]> = [
      ['/', [200]], ['//', [404]], [`${BINDINGS}//`, [404]], [`${BINDINGS}/..`, [404]], [`${BINDINGS}/.`, [404]],
      [`${BINDINGS}/%2e%2e`, [404]], [`${BINDINGS}/%2E`, [404]], [`${BINDINGS}/a%2fb`, [400]],
      [`${BINDINGS}/a%2Fb`, [400]], [`${BINDINGS}/%2f`, [400]], [`${BINDINGS}/a%5cb`, [404]],
      [`${BINDINGS}/a\\b`, [404]], [`${BINDINGS}/%00`, [400]], [`${BINDINGS}/%zz`, [400]], [`${BINDINGS}/%`, [400]],
      [`${BINDINGS}/%ff`, [400]], [`${BINDINGS}/%ed%a0%80`, [400]], [`${BINDINGS}/%252f`, [404]],
      [`${BINDINGS}/${'a'.repeat(300)}`, [404]], [`${BINDINGS}/${'a'.repeat(20_000)}`, [404]],
      [`${BINDINGS}/x/status`, [404]], [`${BINDINGS}/x/y/z`, [404]], [`${BINDINGS};a=b`, [404]],
      [`${BINDINGS}?a#b`, [400]], [`${BINDINGS}#b`, [400]], ['/apis//v1/clusterrolebindings', [404]],
      ['/apis/rbac.authorization.orch.io//clusterrolebindings', [404]], ['/api/v1//namespaces', [404]],
      ['//api/v1/namespaces', [404]], ['/API/v1/namespaces', [404]], ['/api/V1/namespaces', [404]],
      ['/api/v1/Namespaces', [404]],
      ['/api/v1/namespaces//configmaps', [404]], ['/api/v1/namespaces/../secrets', [404]],
      ['/api/v1/namespaces/./secrets', [404]], ['/api/v1/namespaces/%2e%2e/secrets', [404]],
      ['/api/v1/namespaces/default/../../secrets', [404]], ['/api/v1/namespaces/default%2fsecrets', [400]],
      [`/api/v1/namespaces/${'n'.repeat(300)}/configmaps`, [404]], ['/api/v1/namespaces/UPPER/configmaps', [404]],
      ['/api/v1/namespaces/default/clusterrolebindings', [404]],
      ['/apis/rbac.authorization.orch.io/v1/namespaces/default/clusterrolebindings', [404]],
      ['/api/v1/configmaps/x', [404]], ['/api/v1/configmaps/x/status', [404]],
      [`/apis/${'g'.repeat(900)}/v1`, [404]], ['/..', [404]], ['/%2e%2e/api', [404]], ['/healthz/../livez', [404]],
      ['/livez/%2e%2e', [404]], ['/livez/none', [404]], ['/openapi/v2/..', [404]], ['/metrics/', [404]],
      ['ftp://x/api', [400]], ['*', [400]]
    ]
    for (const [target, codes] of refused) {
      const response = await send(t, port, get(target))
      if (codes.includes(200)) t.equal(response?.code, 200, target)
      else t.equal(response === undefined ? 'no answer' : fault(response, codes), undefined, target.slice(0, 60))
    }
    // A target may be a whole URL; only its path counts.
    t.equal((await send(t, port, get(`https://elsewhere.example${BINDINGS}/none`)))?.json.reason, 'NotFound')
    t.equal((await send(t, port, get(`http://x${BINDINGS}`)))?.json.kind, 'ClusterRoleBindingList')
    for (const target of [`${BINDINGS}/${'a'.repeat(70_000)}`, `${BINDINGS}?${'a=b&'.repeat(20_000)}`]) {
      t.match(
        await send(t, port, get(target)), { code: 431, json: { kind: 'Status', code: 431 } }, 'a target over 64 KiB'
      )
    }
    await still('targets')
  })

  t.test('an empty name deletes nothing', async t => {
    t.equal((await server.ask(BINDINGS, 'POST', binding('kept'))).code, 201)
    for (const target of [
      `${BINDINGS}//`, `${BINDINGS}/.`, `${BINDINGS}/..`, `${BINDINGS}/%2e`, `//${BINDINGS}`,
      '/api/v1/namespaces//configmaps', '/api/v1/namespaces/../configmaps'
    ]) {
      const response = await send(t, port, `DELETE ${target} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`)
      t.equal(response === undefined ? 'no answer' : fault(response, [404]), undefined, target)
    }
    t.equal((await server.ask(`${BINDINGS}/kept`)).code, 200)
  })

  t.test('input that is not HTTP gets a Status and its connection is closed', async t => {
    const bad: Record<string, string | Buffer> = {
      garbage: '\x16\x03\x01\x00garbage\r\n\r\n',
      'an unknown method': `FROB ${BINDINGS} HTTP/1.1\r\n${HEAD}\r\n`,
      'a method in small letters': `get ${BINDINGS} HTTP/1.1\r\n${HEAD}\r\n`,
      'a version to come': `GET ${BINDINGS} HTTP/9.9\r\n${HEAD}\r\n`,
      'a blank in the target': get(`${BINDINGS}/a b`),
      'a byte above 127 in the target': Buffer.from(get(`${BINDINGS}/ü`), 'latin1'),
      'a header without a colon': `GET ${BINDINGS} HTTP/1.1\r\n${HEAD}XXXX\r\n\r\n`,
      'no host': `GET ${BINDINGS} HTTP/1.1\r\n${HEAD.replace(/^Host.*\r\n/, '')}\r\n`,
      'two hosts': `GET ${BINDINGS} HTTP/1.1\r\n${HEAD}Host: y\r\n\r\n`,
      'NUL in a header': `GET ${BINDINGS} HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`,
      'a folded header': `GET ${BINDINGS} HTTP/1.1\r\n${HEAD}X: a\r\n b\r\n\r\n`,
      'a blank before the colon': `GET ${BINDINGS} HTTP/1.1\r\n${HEAD}X : a\r\n\r\n`,
      'bare line feeds': `GET ${BINDINGS} HTTP/1.1\n${HEAD.replaceAll('\r', '')}\n`,
      'a length and chunks': post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
      'two lengths': post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}'),
      'a negative length': post('Content-Length: -1\r\n', '{}'),
      'a length that is no number': post('Content-Length: abc\r\n', '{}'),
      'a length beyond numbers': post('Content-Length: 99999999999999999999\r\n', '{}'),
      'a chunk of no size': post('Transfer-Encoding: chunked\r\n', 'ZZ\r\n{}\r\n0\r\n\r\n'),
      'a chunk beyond numbers': post('Transfer-Encoding: chunked\r\n', 'FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n'),
      'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    }
    for (const [title, bytes] of Object.entries(bad)) {
      const wire = await Wire.open(t, port)
      const response = await wire.write(bytes).response()
      t.match(
        response, { code: 400, json: { kind: 'Status', status: 'Failure', reason: 'BadRequest', code: 400 } }, title
      )
      await wire.end()
    }
    await still('no HTTP')
  })

  t.test('a flood of headers is refused', async t => {
    for (const [title, headers] of [
      ['one', `X-Big: ${'x'.repeat(70_000)}\r\n`],
      ['many', Array.from({ length: 9000 }, (_, index) => `X-${index}: 12\r\n`).join('')],
      ['one name', 'A: b\r\n'.repeat(35_000)]
    ] as const) {
      const wire = await Wire.open(t, port)
      t.match(
        await wire.write(`GET ${BINDINGS} HTTP/1.1\r\n${HEAD}${headers}\r\n`).response(),
        { code: 431, json: { kind: 'Status', code: 431 } }, title
      )
      await wire.end()
    }
    await still('headers')
  })

  t.test('a body with a wrong length is refused, and no part of it is read as a request', async t => {
    const chunk = (bytes: number): Buffer =>
      Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), Buffer.alloc(bytes, 0x20), Buffer.from('\r\n')])
    const large: Record<string, Buffer> = {
      'chunks of 4 MiB': post(
        'Transfer-Encoding: chunked\r\n',
        Buffer.concat([...Array.from({ length: 64 }, () => chunk(65_536)), Buffer.from('0\r\n\r\n')])
      ),
      'a true length of 4 MiB': post('Content-Length: 4194304\r\n', Buffer.alloc(4_194_304, 0x20)),
      'a length of 10 GB': post('Content-Length: 10000000000\r\n', '{}'),
      'a length of 3 MiB and a byte, and little more': post('Content-Length: 3145729\r\n', '{}')
    }
    for (const [title, bytes] of Object.entries(large)) {
      const response = await send(t, port, bytes)
      // The connection closes while bytes still arrive, so the response may be lost.
      t.equal(response === undefined ? undefined : fault(response, [413]), undefined, title)
    }
    // Too short: the rest would be the next request, but is not a valid one.
    const wire = await Wire.open(t, port)
    const hidden = `{}DELETE ${BINDINGS}/kept HTTP/1.1\r\n${HEAD}\r\n`
    wire.write(post('Content-Length: 200\r\n', `{}${' '.repeat(198)}${hidden}`))
    const first = await wire.response()
    t.ok(first !== undefined && first.code >= 400 && first.code < 500, `a refusal: ${first?.code}`)
    await wire.end()
    t.equal((await server.ask(`${BINDINGS}/kept`)).code, 200, 'no request was found in a body')
    for (const coding of ['gzip, chunked', 'identity, chunked', 'x']) {
      const response = await send(t, port, post(`Transfer-Encoding: ${coding}\r\n`, '2\r\n{}\r\n0\r\n\r\n'))
      t.match([response?.code, response?.json['kind']], [501, 'Status'], coding)
    }
    await still('lengths')
  })

  t.test('slow headers and slow bodies end after the request timeout, others go on meanwhile', async t => {
    const drip = async (bytes: Buffer): Promise<{ code: number | undefined, seconds: number }> => {
      const wire = await Wire.open(t, port)
      const since = ownTime(server.pid)
      let at = 0
      const timer = setInterval(
        () => { if (at < bytes.length && !wire.ended) wire.write(bytes.subarray(at, ++at)) }, 100
      )
      const response = await wire.response(20_000)
      clearInterval(timer)
      await wire.end(20_000)
      return { code: response?.code, seconds: (ownTime(server.pid) - since) / 1000 }
    }
    const slow = [
      ...Array.from({ length: 20 }, () => drip(Buffer.from(get(BINDINGS)))),
      ...Array.from({ length: 20 }, async () => {
        const bytes = post('Content-Length: 500\r\n', ' '.repeat(500))
        const start = bytes.length - 500
        const wire = await Wire.open(t, port)
        const since = ownTime(server.pid)
        wire.write(bytes.subarray(0, start))
        const timer = setInterval(() => { if (!wire.ended) wire.write(' ') }, 100)
        const response = await wire.response(20_000)
        clearInterval(timer)
        if (response !== undefined) t.equal(fault(response, [408]), undefined)
        await wire.end(20_000)
        return { code: response?.code, seconds: (ownTime(server.pid) - since) / 1000 }
      }),
      ...Array.from({ length: 20 }, async () => {
        const wire = await Wire.open(t, port)
        const since = ownTime(server.pid)
        const response = await wire.write(`GET ${BINDINGS} HTTP/1.1\r\nHost`).response(20_000)
        await wire.end(20_000)
        return { code: response?.code, seconds: (ownTime(server.pid) - since) / 1000 }
      })
    ]
    await still('amid slow ones')
    for (const { code, seconds } of await Promise.all(slow)) {
      t.equal(code, 408)
      t.ok(seconds < 10, `ended after ${seconds.toFixed(1)} s`)
    }
    await still('after slow ones')
  })

  t.test('the same over HTTP/2', async t => {
    const session = connect(server.url, { ca: server.ca })
    t.teardown(() => { session.destroy() })
    session.on('error', () => {})
    const ask = (headers: OutgoingHttpHeaders, body?: Buffer): Promise<{ code: number, json: Json }> =>
      new Promise(resolve => {
        const stream = session.request({ authorization: `Bearer ${TOKEN}`, ...headers })
        let code = 0
        let text = ''
        stream.setEncoding('utf8')
          .on('response', head => { code = Number(head[':status']) })
          .on('data', (piece: string) => { text += piece })
        stream.on('error', () => {})
        stream.on('close', () => {
          let json: Json = {}
          try {
            json = JSON.parse(text) as Json
          } catch {
          // no body, no Status
          }
          resolve({ code, json })
        })
        stream.end(body)
      })
    t.match(await ask({ ':path': `${BINDINGS}/a%2fb` }), { code: 400, json: { reason: 'BadRequest' } })
    t.match(await ask({ ':path': `${BINDINGS}//` }), { code: 404, json: { reason: 'NotFound' } })
    t.notMatch(await ask({ ':path': 'nonsense' }), { code: 200 }, 'which is no path')
    t.match(await ask({ ':path': `${BINDINGS}#x` }), { code: 400, json: { reason: 'BadRequest' } })
    t.match(await ask({ ':method': 'FROB', ':path': BINDINGS }), { code: 405, json: { reason: 'MethodNotAllowed' } })
    t.match(
      await ask(
        { ':method': 'POST', ':path': BINDINGS, 'content-type': 'application/json' }, Buffer.alloc(4_000_000, 0x20)
      ),
      { code: 413, json: { reason: 'RequestEntityTooLarge' } }
    )
    t.match(
      await ask({ ':method': 'POST', ':path': BINDINGS, 'content-type': 'application/json' }, Buffer.from('{')),
      { code: 400, json: { reason: 'BadRequest' } }
    )
    t.match(await ask({ ':path': BINDINGS, authorization: `Bearer ${SECRET}` }), {
      code: 401, json: { reason: 'Unauthorized' }
    })
    const flood = await ask({
      ':path': BINDINGS, ...Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`x-${index}`, 'x']))
    })
    t.not(flood.code, 200, 'more headers than any client needs')
    const again: ClientHttp2Session = connect(server.url, { ca: server.ca })
    t.teardown(() => { again.destroy() })
    again.on('error', () => {})
    // Streams opened and reset at once, a thousand of them.
    await once(again, 'connect')
    for (let index = 0; index < 1000 && !again.closed && !again.destroyed; index++) {
      const stream = again.request({ ':path': `${BINDINGS}?watch=1`, authorization: `Bearer ${TOKEN}` })
      stream.on('error', () => {})
      stream.close(8)
    }
    await still('resets')
  })

  t.test('no client text reaches the log unescaped, and no token at all', async t => {
    const nasty = '%0aINFO%20forged%20line%1b[31m%0d'
    await send(t, port, get(`${BINDINGS}/${nasty}`))
    await send(t, port, get(`${BINDINGS}?labelSelector=${nasty}&token=${SECRET}&access_token=${SECRET}`))
    await send(t, port, get(BINDINGS, `Host: x\r\nAuthorization: Bearer ${SECRET}\r\nUser-Agent: a\x1b[31mb"c\r\n`))
    await send(t, port, Buffer.from(get(BINDINGS, `${HEAD}User-Agent: \xff\xfe\r\n`), 'latin1'))
    await send(t, port, post('Content-Length: 12\r\n', '"\u001b[31mbad'))
    await still('the log')
    const { log } = server
    t.match(log, /status=401/, 'requests are logged')
    t.notOk(log.includes(TOKEN), 'no token that is one')
    t.notOk(log.includes(SECRET), 'nor an invalid token')
    // eslint-disable-next-line no-control-regex -- control characters are what must not be there
    t.notOk(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(log), 'no control characters')
    for (const line of log.trimEnd().split('\n')) {
      t.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:TRACE|DEBUG|INFO |WARN |ERROR|FATAL) /, 'each line is an entry')
    }
    t.notOk(/uncaught exception|unhandled promise rejection/.test(log), 'no exception was left to the process')
    t.notMatch(log, / ERROR /, 'and nothing a client did is a failure of the server')
  })
})
