/** What a start finds out about its etcd: data of a newer release ends it, and silence is said. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { failureFields } from '../../storage/errors.js'
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

/** Says what is wrong before the failures that follow from it do. */
export function sayWhichAreSilent ({ log }: Pick<FastifyInstance, 'log'>, { all }: Stores): void {
  for (const { backend, endpoint = '' } of all) {
    backend.status().catch((error: unknown) => {
      log.error(failureFields(error), `etcd at ${endpoint} does not answer: the server is not ready until it does`)
    })
  }
}
