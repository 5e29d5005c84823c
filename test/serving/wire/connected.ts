import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from '../../build.js'

/** Both ends of a connection of their own; the client's is paused. */
export async function connected (t: Test): Promise<{ readonly client: Socket, readonly server: Socket }> {
  const listening = createServer()
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const accepted = once(listening, 'connection')
  const client = connect((listening.address() as AddressInfo).port, '127.0.0.1').pause()
  const [server] = await accepted as [Socket]
  for (const socket of [client, server]) socket.on('error', () => {})
  t.teardown(() => {
    client.destroy()
    server.destroy()
    listening.close()
  })
  return { client, server }
}
