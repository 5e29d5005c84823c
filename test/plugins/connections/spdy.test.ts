import t from 'tap'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SpdyConnection } from '../../../plugins/connections/spdy.js'
import { connected } from '../../serving/wire/connected.js'

/** More than the system takes for a connection. */
const MUCH = 20_000_000
const NONE = Buffer.alloc(0)
const PING = Buffer.of(0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 2)
const times = (count: number, frame: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => frame))

t.test('an agent that reads no answers to its pings is left', async t => {
  const { client: agent, server: socket } = await connected(t)
  let ended = (): void => {}
  const isEnded = new Promise<void>(resolve => { ended = resolve })
  const spdy = new SpdyConnection(socket, NONE, { replied: () => {}, data: () => {}, ended: () => { ended() } })
  const pings = times(10_000, PING)
  const sending = setInterval(() => { if (!agent.writableNeedDrain) agent.write(pings) }, 1)
  t.teardown(() => { clearInterval(sending) })
  await isEnded
  t.ok(spdy.data(1, NONE), 'what is sent to nobody need not wait')
})

t.test('windows of an agent that does not read are opened at once when it reads again', async t => {
  const { client: agent, server: socket } = await connected(t)
  let left = 100_000
  let received = (): void => {}
  const isReceived = new Promise<void>(resolve => { received = resolve })
  const spdy = new SpdyConnection(socket, NONE, {
    replied: () => {}, ended: () => {}, data: (_id, piece) => { if ((left -= piece.length) === 0) received() }
  })
  const id = spdy.open({ streamtype: 'stdout' })
  for (let sent = 0; sent < MUCH; sent += 65_536) spdy.data(id, Buffer.alloc(65_536))
  await sleep(100)
  const waiting = socket.writableLength
  agent.write(times(left, Buffer.of(0, 0, 0, id, 0, 0, 0, 1, 0)))
  await isReceived
  t.equal(socket.writableLength, waiting)
  const opened = (of: number): Buffer => Buffer.of(0x80, 3, 0, 9, 0, 0, 0, 8, 0, 0, 0, of, 0, 1, 0x86, 0xa0)
  let last = NONE
  agent.resume()
  while (!last.includes(opened(0))) {
    const [chunk] = await once(agent, 'data') as [Buffer]
    last = Buffer.concat([last, chunk]).subarray(-32)
  }
  t.ok(last.includes(opened(id)))
})

t.test('an agent that sends gigabytes and reads nothing is owed no more than a window can be opened by', t => {
  const written: Buffer[] = []
  const socket = Object.assign(new EventEmitter(), {
    writable: true, writableNeedDrain: false, destroyed: false, destroy: () => {}, write: (bytes: Buffer) => written.push(bytes)
  })
  t.teardown(() => { socket.emit('close') })
  new SpdyConnection(
    socket as unknown as Socket, NONE, { replied: () => {}, ended: () => {}, data: () => {} }
  ).open({ streamtype: 'stdout' })
  socket.writableNeedDrain = true
  const frame = Buffer.concat([Buffer.of(0, 0, 0, 1, 0, 0xff, 0xff, 0xff), Buffer.alloc(0xffffff)])
  for (let sent = 0; sent <= 2 ** 32; sent += frame.length) socket.emit('data', frame)
  written.length = 0
  socket.writableNeedDrain = false
  socket.emit('drain')
  t.same(written.map(bytes => bytes.subarray(8).toString('hex')), ['000000017fffffff', '000000007fffffff'])
  t.end()
})
