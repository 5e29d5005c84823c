/**
 * Cost of authenticating a token in this process: a service account token that was seen before, compared to one of the
 * token file.
 */
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import { tokenCredentials, type Authenticator, type Credentials } from '../../auth/authenticator.js'
import { report } from './report.js'
import type { Scale } from './scale.js'
import { loadedServer } from '../../plugins/shared/plugin.js'
import { polled } from '../polled.js'

/** Microseconds per call. */
function cost (authenticator: Authenticator, count: number, credentials: Credentials): number {
  const before = process.cpuUsage()
  for (let at = 0; at < count; at++) void authenticator.authenticate(credentials)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

export async function authentication (scale: Scale): Promise<void> {
  const app = Fastify()
  let found: Authenticator | undefined
  await app.register(async scope => {
    await orch(scope, {
      storage: { kind: 'memory' }, authentication: { tokens: 'bench-token,bench,1,"group-a,group-b"\n' }
    })
    found = loadedServer(scope).orchAuthentication.authenticator
  })
  await app.ready()
  await polled(async () => (await app.inject('/readyz')).statusCode === 200)
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await polled(async () => (await app.inject(`${accounts}/default`)).statusCode === 200)
  const { statusCode, body } = await app.inject({
    method: 'POST', url: `${accounts}/default/token`, payload: { spec: {} }
  })
  if (statusCode !== 201 || found === undefined) throw new Error(`no token: ${body}`)
  const { status: { token } } = JSON.parse(body) as { status: { token: string } }
  const [known, fixed] = [tokenCredentials(token), tokenCredentials('bench-token')]
  await found.authenticate(known)
  const [ours, limit]: [number[], number[]] = [[], []]
  for (let round = 0; round <= scale.rounds; round++) {
    const [mine, its] = [cost(found, scale.gets, known), cost(found, scale.gets, fixed)]
    if (round === 0) continue
    ours.push(mine - its)
    limit.push(its)
  }
  const unit = 'µs of CPU a request'
  report({
    work: 'a token of a service account that was seen before, more than one of the token file', unit, ours, bound: 2
  })
  report({ work: 'a token of the token file', unit, ours: limit })
  await app.close()
}
