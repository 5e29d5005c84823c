/** Port-forward over a WebSocket: its messages are the bytes of the SPDY connection to the node agent. */
import type { Socket } from 'node:net'
import { HeldSource, StreamRate } from '../../serving/wire/held-source.js'
import { WebSocketEnd } from '../../serving/wire/web-socket.js'
import type { Join } from '../shared/forwarding/tunnel.js'

export const joinMessages: Join = (client, { socket: agent, head }, { ending, perSecond, failed }) => {
  const stop = (): void => { client.destroy() }
  ending.addEventListener('abort', stop, { once: true })
  client.once('close', () => {
    ending.removeEventListener('abort', stop)
    agent.destroy()
  })
  const answers = new HeldSource(agent)
  const webSocket = new WebSocketEnd(client, {
    piece: bytes => {
      if (!agent.write(bytes)) webSocket.source.holdFor(agent)
      up.passed(bytes.length)
    },
    closed: () => { agent.end() }
  })
  const up = new StreamRate(webSocket.source, perSecond)
  const down = new StreamRate(answers, perSecond)
  agent.once('error', failed)
  passOn(agent, client, webSocket, { answers, down })
  if (head.length > 0) agent.unshift(head)
  if (ending.aborted) stop()
}

interface Downward { readonly answers: HeldSource, readonly down: StreamRate }

function passOn (agent: Socket, client: Socket, webSocket: WebSocketEnd, { answers, down }: Downward): void {
  client.setTimeout(0)
  agent.setTimeout(0)
  agent.on('data', (chunk: Buffer) => {
    if (!webSocket.send(chunk)) answers.holdFor(client)
    down.passed(chunk.length)
  })
  agent.on('error', () => {}) // 'close' follows
  agent.once('close', () => { webSocket.close() })
  agent.once('end', () => { webSocket.close() })
}
