/** The limit over HTTP/1.1: `node:https` alone. */
import { createServer } from 'node:https'
import { announce, Audience, sendPieces, small, tls } from './bare.js'

const audience = new Audience()

announce(createServer({ ...tls, keepAliveTimeout: 90_000 }, (request, response) => {
  if (request.method === 'POST') {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => { parts.push(part) })
    request.on('end', () => {
      const event = Buffer.concat(parts)
      if (request.url === '/burst') audience.sendThisTurn(event)
      else audience.send(event)
      response.end('{}')
    })
    return
  }
  response.setHeader('content-type', 'application/json')
  if (request.url === '/watch') {
    response.flushHeaders()
    audience.watchers.add(response)
    response.on('close', () => { audience.watchers.delete(response) })
  } else if (request.url === '/list') {
    void sendPieces(response)
  } else {
    response.end(small)
  }
}))
