import t from 'tap'
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { openEtcd } from '../../../storage/etcd/backend.js'
import { encoded } from './protocol.js'

t.test('an etcd that reveals its size to its root user alone is healthy', async t => {
  const body = encoded('RangeResponse', { header: { revision: 7 } })
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(body.length, 1)
  const asked: unknown[] = []
  // The response of newer versions of etcd.
  const etcd = http2.createServer().on('stream', (stream, { ':path': path }) => {
    asked.push(path)
    if (path === '/etcdserverpb.KV/Range') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => { stream.sendTrailers({ 'grpc-status': '0' }) })
      stream.end(Buffer.concat([prefix, body]))
    } else {
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'grpc-status': '7',
          'grpc-message': 'etcdserver: permission denied'
        },
        { endStream: true }
      )
    }
  }).listen(0, '127.0.0.1')
  await once(etcd, 'listening')
  const backend = openEtcd({ servers: [`http://127.0.0.1:${(etcd.address() as AddressInfo).port}`] })
  t.teardown(async () => {
    await backend.close()
    etcd.close()
  })
  t.same(await backend.status(), { size: NaN, revision: 7 })
  t.same(asked.sort(), ['/etcdserverpb.KV/Range', '/etcdserverpb.Maintenance/Status'])
})
