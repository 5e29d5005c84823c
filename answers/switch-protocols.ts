/** The head of an answer that switches protocols. */
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { ServedRequest } from './request-context.js'

/** Sends the head that switches protocols, after which the connection is free; false if it is gone. */
export function switchProtocols (
  { orch }: ServedRequest, reply: FastifyReply, connection: Socket,
  { headers, message = 'Switching Protocols' }: {
    readonly headers: readonly string[], readonly message?: string | undefined
  }
): boolean {
  reply.hijack()
  if (connection.destroyed) return false
  const { raw } = reply
  raw.sendDate = false
  try {
    raw.writeHead(101, message, [...headers])
  } catch { // an invalid status text
    connection.destroy()
    return false
  }
  raw.flushHeaders()
  orch.begun?.()
  return true
}
