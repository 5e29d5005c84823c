/** Cost of OpenAPI documents when they are first requested, and when they exist. */
import { request } from 'node:https'
import { Ends } from './ends.js'
import { cpu, launch, settle, TOKEN } from './process.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
/** Requests to a server that has just started, and their maximum CPU. */
const WORK = [
  { work: 'first /openapi/v2, JSON', path: '/openapi/v2', accept: 'application/json', bound: 300 },
  { work: 'first /openapi/v2, protobuf', path: '/openapi/v2', accept: PROTOBUF, bound: 300 },
  { work: 'first /openapi/v3, with the hashes of all its documents', path: '/openapi/v3', accept: 'application/json', bound: 300 }
] as const

export async function documents (scale: Scale): Promise<void> {
  for (const { work, path, accept, bound } of WORK) {
    const first: number[] = []
    const again: number[] = []
    for (let round = 0; round < scale.starts; round++) {
      await using ends = new Ends()
      const server = ends.add(await launch())
      const ask = async (): Promise<number> => {
        await settle(server, scale.pause)
        const before = cpu(server)
        await get(server.port, path, accept)
        return cpu(server) - before
      }
      first.push(await ask())
      again.push(await ask())
    }
    report({ work, unit: 'ms of CPU', ours: first, bound })
    report({ work: work.replace('first', 'the next'), unit: 'ms of CPU', ours: again })
  }
}

/** On a new connection, compressed, as command-line clients request it. */
function get (port: number, path: string, accept: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, accept, 'accept-encoding': 'gzip' }
    request({ port, host: '127.0.0.1', path, headers, rejectUnauthorized: false, agent: false }, response => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}`))
      response.resume().once('end', resolve)
    }).once('error', reject).end()
  })
}
