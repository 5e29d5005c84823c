import t from 'tap'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketEnd } from '../../../serving/wire/web-socket.js'
import { connected } from './connected.js'

const MOST = 100_000_000
/** More than the system takes for a connection. */
const MUCH = 20_000_000

/** A frame whose mask is zeros. */
const frame = (code: number, length: number): Buffer => Buffer.concat([
  Buffer.of(0x80 | code, 0x80 | length), Buffer.alloc(4 + length)
])
const [BINARY, PING] = [2, 9]

t.test('pings of a client that reads no answers are not read either', async t => {
  const { client, server } = await connected(t)
  const end = new WebSocketEnd(server, { piece: () => {}, closed: () => {} })
  t.teardown(() => { end.close() })
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(PING, 125)))
  let sent = 0
  for (const patience = 500; sent < MOST; sent += pings.length) {
    if (!client.write(pings) && await Promise.race([
      once(client, 'drain').then(() => false), sleep(patience, true)
    ])) break
  }
  t.ok(sent < MOST, `${sent} bytes are sent`)
  t.ok(server.writableLength < 1_000_000, `${server.writableLength} bytes of answers wait`)
  let received = 0
  client.on('data', (chunk: Buffer) => { received += chunk.length }).resume()
  while (received < sent / pings.length * 127_000) await sleep(5)
  t.pass('all are answered')
})

t.test('a client that takes no messages is left, whatever it sends', async t => {
  const { client, server } = await connected(t)
  const end = new WebSocketEnd(server, { piece: () => {}, closed: () => {} })
  const fill = (): void => { for (let sent = 0; sent < MUCH; sent += 65_536) end.send(Buffer.alloc(65_536)) }
  fill()
  await new Promise<void>(resolve => {
    end.whenRead(2000, resolve)
    client.resume()
  })
  client.pause()
  fill()
  end.whenRead(200, () => { t.fail('it has read') })
  const sending = setInterval(() => { client.write(frame(BINARY, 100)) }, 20)
  await once(server, 'close')
  clearInterval(sending)
})

t.test('what no client may send ends the connection with the code for that', async t => {
  const masked = (first: number, second: number, ...bytes: number[]): Buffer => Buffer.of(first, second, ...bytes)
  const NO_MASK = [0, 0, 0, 0]
  const sent: Readonly<Record<string, Buffer>> = {
    'a length of 64 bits': masked(0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, ...NO_MASK),
    'a rest without a beginning': masked(0x80, 0x81, ...NO_MASK, 1),
    'a message within another': masked(0x02, 0x81, ...NO_MASK, 1, 0x82, 0x81, ...NO_MASK, 1),
    'half a code': masked(0x88, 0x81, ...NO_MASK, 3),
    'a code for no frame': masked(0x88, 0x82, ...NO_MASK, 3, 0xed)
  }
  for (const [title, bytes] of Object.entries(sent)) {
    const { client, server } = await connected(t)
    let isClosed = false
    const end = new WebSocketEnd(server, { piece: () => {}, closed: () => { isClosed = true } })
    t.teardown(() => { end.close() })
    client.resume().write(bytes)
    const [answer] = await once(client, 'data') as [Buffer]
    t.same([...answer], [0x88, 2, 1002 >> 8, 1002 & 0xff], title)
    t.ok(isClosed, title)
    client.destroy()
  }
})

t.test('a message may come in frames, with a ping between them', async t => {
  const { client, server } = await connected(t)
  const heard: string[] = []
  const end = new WebSocketEnd(
    server, { piece: (bytes, begins) => { heard.push(`${begins ? '' : '+'}${bytes.length}`) }, closed: () => {} }
  )
  t.teardown(() => { end.close() })
  client.resume().write(Buffer.concat([
    Buffer.of(0x02, 0x81, 0, 0, 0, 0, 1), frame(PING, 1), Buffer.of(0x00, 0x82, 0, 0, 0, 0, 1, 2), frame(0, 3),
    frame(BINARY, 4)
  ]))
  await once(client, 'data')
  t.same(heard, ['1', '+2', '+3', '4'])
})
