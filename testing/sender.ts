/** Requests that load fixtures, over one connection. */
import { Agent, request as httpRequest } from 'node:http'
import { Agent as SecureAgent, request as httpsRequest } from 'node:https'
import type { FixtureObject } from './fixtures.js'
import type { Endpoint } from './kubeconfig.js'
import { LOADER, tokenOf } from './users.js'

export interface Answer {
  readonly code: number
  readonly object: FixtureObject
  /** The reason of a Status; otherwise ''. */
  readonly reason: string
}

export type Sender = (method: string, path: string, body?: object) => Promise<Answer>

/** @returns the sender, and a function that closes its connection */
export function openSender ({ url, certificateAuthority }: Endpoint): {
  readonly send: Sender, readonly close: () => void
} {
  const secure = certificateAuthority !== undefined
  const options = { keepAlive: true, maxSockets: 1 }
  const agent = secure ? new SecureAgent({ ...options, ca: certificateAuthority }) : new Agent(options)
  const headers = { authorization: `Bearer ${tokenOf(LOADER)}`, 'content-type': 'application/json' }
  const send: Sender = async (method, path, body) => await new Promise((resolve, reject) => {
    const sent = (secure ? httpsRequest : httpRequest)(url + path, { method, agent, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => { chunks.push(chunk) }).on('error', reject).on('end', () => {
        try {
          const object = JSON.parse(Buffer.concat(chunks).toString()) as FixtureObject
          resolve({
            code: response.statusCode ?? 0, object, reason: typeof object['reason'] === 'string' ? object['reason'] : ''
          })
        } catch (error) {
          reject(new Error(`${method} ${path} was answered without JSON`, { cause: error }))
        }
      })
    })
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
  return { send, close: () => { agent.destroy() } }
}
