/** `/debug/flags/`: flags that can be changed while the server runs. There is one, `v`. */
import type { FastifyInstance } from 'fastify'
import { quote } from '../../schemas/quote.js'
import { badRequest } from '../../schemas/status.js'

const ROOT = '/debug/flags'
const TEXT = 'text/plain; charset=utf-8'
/** Maximum of the flag `-v`. */
const MAX = 10

/** `PUT /debug/flags/v` with a number. The response has upstream's words, which scripts match. */
export function debugFlags (fastify: FastifyInstance, setVerbosity: (v: number) => void): void {
  const index = `${ROOT}/\n\nv  verbosity of the log, 0 to ${MAX}: PUT the number to ${ROOT}/v\n`
  for (const path of [ROOT, `${ROOT}/`]) {
    fastify.get(path, async (_request, reply) => await reply.type(TEXT).send(index))
  }

  fastify.put(`${ROOT}/v`, async (request, reply) => {
    // files and pipes end with a line end
    const text = Buffer.isBuffer(request.body) ? request.body.toString().trim() : ''
    const v = /^\d{1,2}$/.test(text) ? Number(text) : Infinity
    if (v > MAX) {
      throw badRequest(`failed to set klog.logging.verbosity ${quote(text)}: must be a whole number from 0 to ${MAX}`)
    }
    setVerbosity(v)
    // Logged after the change: the line is of level info, so it appears at every verbosity.
    request.log.info({ user: request.orch?.user?.username }, `log verbosity is now ${v}`)
    return await reply.type(TEXT).send(`successfully set klog.logging.verbosity to ${v}\n`)
  })
}
