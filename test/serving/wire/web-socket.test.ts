import t from 'tap'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketEnd } from '../../../serving/wire/web-socket.js'
import { connected } from './connected.js'

const MOST = 100_000_000
/** More than the system takes for a connection. */
const MUCH = 20_000_000

/** A frame whose mask is zeros. */
const frame = (code: number, length: number): Buffer => Buffer.concat([Buffer.of(0x80 | code, 0x80 | length), Buffer.alloc(4 + length)])
const [BINARY, PING] = [2, 9]

t.test('pings of a client that reads no answers are not read either', async t => {
  const { client, server } = await connected(t)
  const end = new WebSocketEnd(server, { piece: () => {}, closed: () => {} })
  t.teardown(() => { end.close() })
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(PING, 125)))
  let sent = 0
  for (const patience = 500; sent < MOST; sent += pings.length) {
    if (!client.write(pings) && await Promise.race([once(client, 'drain').then(() => false), sleep(patience, true)])) break
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
