import t from 'tap'
import { buffer } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { ChannelTranslator } from '../../../plugins/connections/channels.js'
import { connected } from '../../serving/wire/connected.js'

t.test('an agent that does not accept the streams in time ends the command', async t => {
  const client = await connected(t)
  const agent = await connected(t)
  agent.client.resume() // it reads what it is asked, and replies to none of it
  const answer = { headers: { 'x-stream-protocol-version': 'v4.channel.orch.io' } } as unknown as IncomingMessage
  const ended = new Promise<number>(resolve => {
    new ChannelTranslator(client.server, {
      command: { stdin: true, stdout: true }, ending: new AbortController().signal, perSecond: 0, replyTimeout: 50,
      ended: resolve,
      dial: async () => ({ answer, upgraded: { socket: agent.server, head: Buffer.alloc(0) } })
    }).begin()
  })
  t.equal(await ended, 500)
  t.ok(agent.server.destroyed)
  t.match(String(await buffer(client.client)), /"status":"Failure".*the node agent has not accepted the streams/)
})
