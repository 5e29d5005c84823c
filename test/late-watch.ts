/**
 * A connection to etcd that delays the responses of watches and nothing else. Only a proxy that distinguishes calls can
 * do that, because the server uses one connection.
 */
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './etcd-process.js'

const WATCH = '/etcdserverpb.Watch/Watch'

/** @returns the address of the proxy */
export async function lateWatch (t: Teardown, target: string, milliseconds: number): Promise<string> {
  const upstream = http2.connect(target)
  upstream.on('error', () => {})
  const proxy = http2.createServer()
  proxy.on('stream', (stream, headers) => {
    const { ':method': method, ':path': path, ...rest } = headers
    for (const name of Object.keys(rest)) if (name.startsWith(':')) delete rest[name]
    const late = path === WATCH
    const call = upstream.request({ ...rest, ':method': method, ':path': path })
    // Each step is delayed by the same time, so their order stays.
    const then = (step: () => void): void => {
      if (late) setTimeout(() => { if (!stream.destroyed) step() }, milliseconds)
      else if (!stream.destroyed) step()
    }
    let trailers: http2.IncomingHttpHeaders = {}
    call.on('response', ({ ':status': status, ...answer }) => {
      then(() => { stream.respond({ ...answer, ':status': status }, { waitForTrailers: true }) })
    })
    call.on('data', (data: Buffer) => { then(() => { stream.write(data) }) })
    call.on('trailers', found => { trailers = found })
    call.on('end', () => { then(() => { stream.end() }) })
    stream.on('wantTrailers', () => { stream.sendTrailers(trailers) })
    stream.on('data', (data: Buffer) => { call.write(data) })
    stream.on('end', () => { call.end() })
    stream.on('close', () => { call.close() })
    for (const one of [stream, call]) one.on('error', () => { stream.close(); call.close() })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    upstream.destroy()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}
