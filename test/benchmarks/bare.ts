/**
 * The limits: `node:https` alone. /one sends a small answer, /list a large one in pieces, /watch keeps its
 * answer open, and each POST writes its body to all that are open.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [one = '{}', list = '', certificate = '', key = ''] = process.argv.slice(2)
const small = Buffer.from(readFileSync(one))
const large = readFileSync(list)
const PIECE = 128 * 1024
const watchers = new Set<ServerResponse>()

async function sendPieces (response: ServerResponse): Promise<void> {
  for (let at = 0; at < large.length; at += PIECE) {
    if (!response.write(large.subarray(at, at + PIECE))) await new Promise(resolve => { response.once('drain', resolve) })
  }
  response.end()
}

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  if (request.method === 'POST') {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => { parts.push(part) })
    request.on('end', () => {
      const event = Buffer.concat(parts)
      for (const watcher of watchers) watcher.write(event)
      response.end('{}')
    })
    return
  }
  response.setHeader('content-type', 'application/json')
  if (request.url === '/watch') {
    response.flushHeaders()
    watchers.add(response)
    response.on('close', () => { watchers.delete(response) })
  } else if (request.url === '/list') {
    void sendPieces(response)
  } else {
    response.end(small)
  }
})
server.listen(0, '127.0.0.1', () => { process.send?.((server.address() as AddressInfo).port) })
process.on('disconnect', () => { process.exit() })
