/** Security headers: computed once, beside @fastify/helmet's hooks for each answer, in this process. */
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import Fastify from '../fastify.js'
import { FOR_AN_API, securityHeadersOf } from '../../plugins/security-headers.js'
import { report } from './report.js'
import type { Scale } from './scale.js'

type Register = (fastify: FastifyInstance) => Promise<unknown>

const once: Register = async fastify => {
  const headers = await securityHeadersOf(fastify, {})
  fastify.addHook('onRequest', (_request, reply, done) => {
    for (const [name, value] of headers) reply.header(name, value)
    done()
  })
}
const eachTime: Register = async fastify =>
  await fastify.register(helmet, { ...FOR_AN_API, strictTransportSecurity: false })
const none: Register = async () => {}

async function serving (register: Register): Promise<FastifyInstance> {
  const app = Fastify()
  await register(app)
  app.get('/', (_request, reply) => reply.send('ok'))
  await app.ready()
  return app
}

const SLICE = 100

/** Microseconds of CPU for each answer of each server, in slices by turns, so that what else runs slows all alike. */
async function costs (apps: readonly FastifyInstance[], count: number): Promise<number[]> {
  const spent = apps.map(() => 0)
  for (let at = 0; at < count; at += SLICE) {
    for (const [index, app] of apps.entries()) {
      const before = process.cpuUsage()
      for (let one = 0; one < SLICE; one++) await app.inject('/')
      await new Promise(resolve => { setImmediate(resolve) }) // which frees what the answers hold
      const { user, system } = process.cpuUsage(before)
      spent[index] = (spent[index] ?? 0) + user + system
    }
  }
  return spent.map(all => all / count)
}

export async function securityHeaders (scale: Scale): Promise<void> {
  const apps = await Promise.all([none, once, eachTime].map(serving))
  const added: [number[], number[]] = [[], []]
  for (let round = -1; round < scale.rounds; round++) { // the first warms up
    const [bare = 0, ours = 0, helmets = 0] = await costs(apps, scale.gets)
    if (round < 0) continue
    added[0].push(ours - bare)
    added[1].push(helmets - bare)
  }
  for (const app of apps) await app.close()
  const unit = 'µs of CPU an answer'
  report({ work: 'security headers, computed once', unit, ours: added[0] })
  report({ work: 'security headers, by helmet for each answer', unit, ours: added[1] })
}
