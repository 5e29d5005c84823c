import t from 'tap'
import { once } from 'node:events'
import { SpdyConnection } from '../../../plugins/connections/spdy.js'
import { WINDOW } from '../../../plugins/connections/spdy-windows.js'
import { connected } from '../../serving/wire/connected.js'

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

t.test('an agent that only sends is sent nothing, which it could leave unread when it closes', async t => {
  const { client: agent, server: socket } = await connected(t)
  let left = 100_000
  let ended = (): void => {}
  const isEnded = new Promise<void>(resolve => { ended = resolve })
  const spdy = new SpdyConnection(socket, NONE, {
    replied: () => {}, ended: () => { ended() }, data: (_id, piece) => { left -= piece.length }
  })
  const id = spdy.open({ streamtype: 'stdout' })
  const [opening] = await once(agent.resume(), 'data') as [Buffer]
  t.equal(opening[3], 1, 'the stream is opened')
  const heard: Buffer[] = []
  agent.on('data', (chunk: Buffer) => { heard.push(chunk) })
  agent.end(times(left, Buffer.of(0, 0, 0, id, 0, 0, 0, 1, 0)))
  await isEnded
  t.same([left, Buffer.concat(heard).length], [0, 0])
})

t.test('an agent that waits with its windows full, or half full, may send more', async t => {
  const { client: agent, server: socket } = await connected(t)
  const spdy = new SpdyConnection(socket, NONE, { replied: () => {}, ended: () => {}, data: () => {} })
  const id = spdy.open({ streamtype: 'stdout' })
  await once(agent.resume(), 'data')
  const frame = (bytes: number): Buffer => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(id, 0)
    head.writeUInt32BE(bytes, 4)
    return Buffer.concat([head, Buffer.alloc(bytes)])
  }
  const opened = (stream: number, bytes: number): Buffer => {
    const update = Buffer.of(0x80, 3, 0, 9, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0)
    update.writeUInt32BE(stream, 8)
    update.writeUInt32BE(bytes, 12)
    return update
  }
  let heard = NONE
  agent.on('data', (chunk: Buffer) => { heard = Buffer.concat([heard, chunk]) })
  for (const bytes of [WINDOW, WINDOW, WINDOW, 40_000, WINDOW]) {
    heard = NONE
    agent.write(frame(bytes))
    const expected = Buffer.concat([opened(id, bytes), opened(0, bytes)])
    while (heard.length < expected.length) await once(agent, 'data')
    t.ok(heard.equals(expected), `${bytes} bytes: ${heard.toString('hex')}`)
  }
})

t.test('what an agent has said before it closed is read, though its client goes on sending', async t => {
  const { client: agent, server: socket } = await connected(t)
  let said = ''
  let ended = (): void => {}
  const isEnded = new Promise<void>(resolve => { ended = resolve })
  const spdy = new SpdyConnection(socket, NONE, {
    replied: () => {}, ended: () => { ended() }, data: (_id, piece) => { said += String(piece) }
  })
  const [out, sent] = ['error', 'stdin'].map(streamtype => spdy.open({ streamtype })) as [number, number]
  await once(agent.resume(), 'data')
  setTimeout(() => {
    agent.write(Buffer.concat([Buffer.of(0, 0, 0, out, 0, 0, 0, 2), Buffer.from('ok')]))
    agent.resetAndDestroy()
    for (let piece = 0; piece < 3; piece++) spdy.data(sent, Buffer.from('more'))
  }, 1)
  await isEnded
  t.equal(said, 'ok')
})
