/** Clients that are slow, give up, stop halfway, or lie. Their responses do not matter here. */
import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { get, open } from '../pipelined.js'
import { configs, type Round } from './honest.js'
import type { Place } from './target.js'

const SMALL = (prefix: string, at: number): string => `${prefix}${configs('still')}/still-${at}`
const LIST = (prefix: string): string => `${prefix}${configs('still')}`
const WATCH = (prefix: string, seconds: number): string =>
  `${prefix}/api/v1/configmaps?watch=1&timeoutSeconds=${seconds}`

type Attack = (round: Round) => Promise<void>

const done = async (socket: Socket, milliseconds: number): Promise<void> => {
  const closed = socket.destroyed ? undefined : once(socket, 'close').catch(() => {})
  await Promise.race([closed, sleep(milliseconds)])
  socket.destroy()
}

/** Reads a part, pauses, and may disconnect in the middle. */
async function slowPipeline ({ place, int }: Round): Promise<void> {
  const { prefix } = place
  const socket = await open(place)
  socket.on('data', () => {
    socket.pause()
    setTimeout(() => { socket.resume() }, 1 + int(10))
  })
  const requests = Array.from(
    { length: 10 + int(40) },
    (_, at) => int(6) === 0
      ? get(`${LIST(prefix)}?pretty=${int(2)}`, int(2) === 0 ? { 'accept-encoding': 'gzip' } : {})
      : get(SMALL(prefix, at))
  )
  socket.write([get(int(2) === 0 ? WATCH(prefix, 1) : LIST(prefix)), ...requests].join(''))
  await done(socket, 100 + int(1500))
}

/** Disconnects after some bytes, or none. */
async function leave ({ place, int }: Round): Promise<void> {
  const socket = await open(place)
  const { prefix } = place
  const many = Array.from({ length: int(20) }, (_, at) => get(SMALL(prefix, at))).join('')
  socket.write(`${get(int(2) === 0 ? LIST(prefix) : WATCH(prefix, 600))}${many}`)
  socket.resume()
  await done(socket, int(60))
}

const UNFINISHED = [
  'GET', 'GET /livez HTTP/1.1\r\nHost: x\r\n',
  'POST /api/v1/namespaces/still/configmaps HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n' +
  'content-length: 100000\r\n\r\n{',
  'POST /api/v1/namespaces/still/configmaps HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n{',
  'POST /api/v1/namespaces/still/configmaps/y/log HTTP/1.1\r\nHost: x\r\ncontent-length: 9\r\n\r\n{'
]

/** Starts something and does not continue. */
async function halfOpen ({ place, int }: Round): Promise<void> {
  if (int(3) === 0) {
    const bare = connectTcp(place.port, '127.0.0.1')
    bare.on('error', () => {})
    if (int(2) === 0) bare.write(Buffer.from([0x16]))
    return await done(bare, 50 + int(300))
  }
  const socket = await open(place)
  socket.resume()
  if (int(4) !== 0) socket.write(UNFINISHED[int(UNFINISHED.length)] as string)
  await done(socket, 50 + int(500))
}

const LIES = [
  'GET / HTTP/2.0\r\nHost: x\r\n\r\n', 'GET /livez HTTP/1.1\r\n\r\n', 'GET /livez\r\n\r\n', 'nonsense\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: x\r\n\r\nPOST /api/v1/namespaces/still/configmaps HTTP/1.1\r\nHost: x\r\n' +
  'expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}',
  'GET /livez HTTP/1.1\r\nHost: x\r\nexpect: the-best\r\n\r\n',
  `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(80_000)}\r\n\r\n`,
  'GET /api/v1/configmaps?labelSelector=a,a,a,a HTTP/1.1\r\nHost: x\r\nauthorization: Bearer bad \r\n\r\n',
  'PATCH /api/v1/namespaces/still/configmaps/none HTTP/1.1\r\nHost: x\r\n' +
  'content-type: application/json-patch+json\r\ncontent-length: 37\r\n\r\n[{"op":"add","path":{"toString":1}}]\r\n'
]

async function lie ({ place, int }: Round): Promise<void> {
  const socket = await open(place)
  socket.resume()
  socket.write(LIES[int(LIES.length)] as string)
  await done(socket, 50 + int(200))
}

const CODES = [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]

/** Streams that are reset, connections with an empty window, and invalid frames. */
async function http2 ({ place, int }: Round): Promise<void> {
  const { secure, port, prefix } = place
  const session = connectHttp2(`${secure ? 'https' : 'http'}://127.0.0.1:${port}`, {
    rejectUnauthorized: false, settings: { initialWindowSize: int(2) === 0 ? 0 : 1000 }
  })
  session.on('error', () => {})
  await Promise.race([once(session, 'connect').catch(() => {}), sleep(500)])
  if (!session.destroyed) {
    for (let at = 0; at < 5 + int(30); at++) {
      const path = [SMALL(prefix, at), LIST(prefix), WATCH(prefix, 600), `${LIST(prefix)}?pretty=1`][int(4)] as string
      const stream = session.request({ ':path': path })
      stream.on('error', () => {})
      if (int(2) === 0) setTimeout(() => { stream.close(CODES[int(CODES.length)]) }, int(100)).unref()
    }
    await sleep(int(300))
    if (int(4) === 0) {
      try {
        // of an unknown type, on a stream that does not exist
        session.socket.write(Buffer.from('000001ff00ffffffff', 'hex'))
      } catch {
        // its socket is closed, or Node hides it
      }
      await sleep(50)
    }
  }
  session.destroy()
}

const attacksOn = ({ protocols }: Place): Attack[] => [
  ...(protocols.includes('http1') ? [slowPipeline, slowPipeline, leave, halfOpen, lie] : []),
  ...(protocols.includes('http2') ? [http2, http2] : [])
]

/** Runs one attack after another until the end. */
export async function attacker (round: Round): Promise<void> {
  const attacks = attacksOn(round.place)
  while (!round.signal.aborted) {
    const attack = attacks[round.int(attacks.length)] as Attack
    await attack(round).catch(() => {}) // a server may refuse such a client
    round.did(attack.name)
    await sleep(5)
  }
}
