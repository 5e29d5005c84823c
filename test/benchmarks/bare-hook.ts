/**
 * A webhook that allows everything, in a process of its own, which sends its port. Arguments: the paths of its
 * certificate and key.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

const [certificate = '', key = ''] = process.argv.slice(2)
const server = createServer({
  cert: readFileSync(certificate), key: readFileSync(key), keepAliveTimeout: 60_000
}, (request, reply) => {
  let text = ''
  request.setEncoding('utf8').on('data', (more: string) => { text += more }).on('end', () => {
    const uid = /"uid":"([^"]*)"/.exec(text)?.[1] ?? ''
    reply.setHeader('content-type', 'application/json').end(
      `{"kind":"AdmissionReview","apiVersion":"admission.orch.io/v1","response":{"uid":"${uid}","allowed":true}}`
    )
  })
})
server.listen(0, '127.0.0.1', () => { process.send?.((server.address() as AddressInfo).port) })
process.on('disconnect', () => { process.exit() })
