/** Ends a start whose etcd has data of a newer release. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Stores } from '../../storage/open.js'

/** Milliseconds. Without an answer in that time the start continues. */
const FORMAT_WAIT = 500

export function refuseNewerFormat (fastify: FastifyInstance, stores: Stores): void {
  fastify.addHook('onReady', async () => {
    const answers = Promise.allSettled(stores.all.map(({ backend }) => backend.revision()))
    await Promise.race([answers, sleep(FORMAT_WAIT, undefined, { ref: false })])
    const refusal = stores.refusal()
    if (refusal !== undefined) throw refusal
  })
}
