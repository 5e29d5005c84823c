/** Responses of extension servers that try to exploit the connection, or never end. */
import t from 'tap'
import { connect } from 'node:net'
import { build, listen } from '../../build.js'
import { extensionServer, GADGETS, outbound, register, ROOT } from './extension-server.js'
import { rawServer } from './raw-server.js'

for (const protocol of ['h2c', 'HTTP/2.0', 'TLS/1.3', 'websocket, h2c', '']) {
  t.test(
    `an upgrade to "${protocol}" is not passed on, as the client could send requests over it as any user`, async t => {
      const shop = await extensionServer(t)
      const server = await listen(t, { outbound })
      await register(server, shop.port)
      shop.asked.length = 0
      shop.upgrade.handle = socket => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
      }
      const socket = connect(server.port, '127.0.0.1')
      socket.write(
        `GET ${GADGETS} HTTP/1.1\r\nHost: a\r\n` +
        `Connection: Upgrade, HTTP2-Settings${protocol === '' ? ', close' : ''}\r\nUpgrade: ${protocol}\r\n` +
        'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n'
      )
      t.match(
        Buffer.concat(await socket.toArray() as Buffer[]).toString(), /^HTTP\/1\.1 200 OK\r\n[^]*"kind":"GadgetList"/
      )
      t.equal(shop.asked.length, 1)
      for (const name of ['upgrade', 'http2-settings']) t.notOk(name in (shop.asked[0]?.headers ?? {}), name)
    }
  )
}

t.test('the audit ID is this server\'s own, and an invalid status code is a 503', async t => {
  let head = 'HTTP/1.1 200 OK\r\nAudit-Id: theirs'
  const server = await build(t)
  await register(
    server, await rawServer(t, socket => { socket.end(`${head}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`) })
  )
  const { code, headers } = await server.get(GADGETS)
  t.equal(code, 200)
  t.match(headers['audit-id'], /^[\da-f-]{36}$/)
  head = 'HTTP/1.1 042 Odd'
  t.match(await server.get(GADGETS), {
    code: 503, json: { message: 'error trying to reach service: invalid status code 42' }
  })
})

t.test('discovery whose body does not end is broken off', async t => {
  const server = await listen(t)
  await register(
    server, await rawServer(t, socket => { socket.write('HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{"half') })
  )
  await t.rejects(
    fetch(`${server.url}${ROOT}`).then(answer => answer.text()),
    'before the deadline of a minute that other requests have'
  )
})
