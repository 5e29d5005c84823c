/**
 * Starts authenticators and authorizers before requests are served, and closes them with the server. A failed or slow
 * start fails the boot with the component's name.
 */
import type { FastifyInstance } from 'fastify'
import type { Lifecycle } from '../../auth/lifecycle.js'
import { reasonOf } from '../../storage/errors.js'

/** Share of Fastify's pluginTimeout, so that our error, which names the component, comes first. */
const SHARE = 0.9

/** @param kind `authenticator`, for errors and the log */
export function runParts (
  fastify: FastifyInstance, kind: string, parts: ReadonlyArray<Lifecycle & { readonly name: string }>
): void {
  if (!parts.some(({ start, close }) => start !== undefined || close !== undefined)) return
  const open: Array<Lifecycle & { readonly name: string }> = []

  fastify.addHook('onReady', async () => {
    const { pluginTimeout = 0 } = fastify.initialConfig
    const until = pluginTimeout > 0 ? performance.now() + pluginTimeout * SHARE : Infinity
    for (const part of parts) {
      try {
        await within(until - performance.now(), part.start?.())
      } catch (error) {
        throw new Error(`${kind} ${part.name} cannot start: ${reasonOf(error)}`, { cause: error })
      }
      open.push(part)
    }
  })

  fastify.addHook('onClose', async () => {
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      try {
        await part.close?.()
      } catch (error) {
        fastify.log.warn({ err: error }, `${kind} ${part.name} could not be closed`)
      }
    }
  })
}

async function within (milliseconds: number, work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return
  if (milliseconds === Infinity) return await work
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new Error('it took too long')) }, Math.max(milliseconds, 1))
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
