/**
 * A program under a small limit of open files: sends requests while none is left, and again when they are back. Prints
 * the codes.
 */
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InjectOptions } from 'fastify'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { watchDescriptors } from '../../serving/descriptors.js'

const fastify = Fastify()
await fastify.register(orch)
await fastify.ready()
while ((await fastify.inject('/readyz')).statusCode !== 200) await sleep(5)

async function codes (name: string): Promise<Record<string, number>> {
  const code = async (call: InjectOptions | string): Promise<number> => (await fastify.inject(call)).statusCode
  return {
    get: await code('/api/v1/namespaces/default/configmaps'),
    metrics: await code('/metrics'),
    yaml: await code({
      method: 'POST',
      url: '/api/v1/namespaces/default/configmaps',
      headers: { 'content-type': 'application/yaml' },
      payload: `metadata: {name: ${name}}`
    }),
    openapi: await code('/openapi/v2')
  }
}

const exhausted: string[] = []
const unwatch = watchDescriptors(code => { exhausted.push(code) }, 5)
const held: number[] = []
try {
  for (;;) held.push(openSync('/dev/null', 'r'))
} catch {
  // that was the last one
}
await sleep(50) // longer than the interval of the checks
const out = await codes('first')
for (const descriptor of held) closeSync(descriptor)
unwatch()
console.log(JSON.stringify({ out, back: await codes('second'), exhausted }))
await fastify.close()
