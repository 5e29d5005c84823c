/** Thousands of HTTP/1.1 requests in one write, which clients without any rights can send. */
import t from 'tap'
import { once } from 'node:events'
import { get, open } from '../pipelined.js'
import { serve } from '../secure-server.js'
import { turns } from '../turns.js'
import { slowness } from './refusal.js'

const REQUESTS = 3000
/** Milliseconds of CPU on a machine of the reference's speed. */
const MAX_TURN_MS = 25
const BODY = JSON.stringify(
  {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'lines' },
    data: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`line-${at}`, 'x']))
  },
  null, 1
)
const LAST = { connection: 'close' }

async function answers (port: number, requests: string): Promise<number[]> {
  const socket = await open({ port, secure: true })
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => { pieces.push(piece) })
  socket.write(requests)
  await once(socket, 'close')
  return Array.from(
    Buffer.concat(pieces).toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3}) /gm), ([, code]) => Number(code)
  )
}

t.test('pipelined requests are answered in short turns', async t => {
  const { port } = await serve(t)
  await answers(port, get('/version').repeat(300) + get('/version', LAST)) // what compiles does not count
  const kinds: Record<string, string> = {
    served: get('/version'),
    'served, to whoever it is': get('/api/v1/namespaces/default/configmaps/none'),
    refused: get('/a%2fb')
  }
  for (const [title, request] of Object.entries(kinds)) {
    for (const connections of [1, 4]) {
      const measured = turns()
      const all = await Promise.all(Array.from(
        { length: connections }, () => answers(port, request.repeat(REQUESTS) + get('/version', LAST))
      ))
      const { longest } = measured.stop()
      t.comment(`${title}, ${connections} connections: ${longest.toFixed(1)} ms in the longest turn`)
      t.ok(
        longest < MAX_TURN_MS * slowness(),
        `${title}, ${connections} connections: ${longest.toFixed(1)} ms in the longest turn`
      )
      for (const codes of all) t.equal(codes.length, REQUESTS + 1, title)
    }
  }
})

t.test('bodies of many lines between pipelined requests arrive whole', async t => {
  const server = await serve(t)
  const configs = '/api/v1/namespaces/default/configmaps'
  const head = `POST ${configs} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  const chunk = `${BODY.length.toString(16)}\r\n${BODY}\r\n`
  const codes = await answers(server.port, [
    get('/version').repeat(100), `${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`, get('/version').repeat(100),
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`, get('/version').repeat(100), get('/version', LAST)
  ].join(''))
  t.same(
    codes, [...Array<number>(100).fill(200), 201, ...Array<number>(100).fill(200), 409, ...Array<number>(101).fill(200)]
  )
  t.same((await server.get(`${configs}/lines`)).json['data'], (JSON.parse(BODY) as { data: object }).data)
})
