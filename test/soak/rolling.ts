/**
 * Two servers on one etcd behind a balancer, each ended by SIGTERM and restarted under load (load.ts). The caller
 * chooses the numbers: small ones for a test; `npm run rolling` uses those of a busy cluster.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Balancer, type Target } from '../../examples/control-plane/balancer.js'
import type { Test } from '../build.js'
import { launchApart, TOKEN, type Apart } from '../benchmarks/process.js'
import { startEtcd } from '../etcd-process.js'
import { startLoad, type RollingOutcome, type RollingScale } from './load.js'

const FLAGS = ['--shutdown-delay-duration=1s', '--v=0']

const targetOf = ({ port, folder }: Apart): Target => ({
  host: '127.0.0.1', port, ca: readFileSync(join(folder, 'apiserver.crt'), 'utf8')
})

export async function rolling (t: Test, scale: RollingScale): Promise<RollingOutcome> {
  const etcd = await startEtcd(t)
  const flags = [`--etcd-servers=${etcd.url}`, ...FLAGS]
  const servers = await Promise.all([launchApart(flags), launchApart(flags)])
  t.teardown(() => Promise.all(servers.map(server => server.stop())))
  const balancer = await Balancer.listening()
  t.teardown(() => { balancer.close() })
  const targets = servers.map(targetOf)
  for (const target of targets) balancer.add(target)

  const { more, fault, finish } = await startLoad(
    t, { host: '127.0.0.1', port: balancer.port, headers: { authorization: `Bearer ${TOKEN}` }, tls: {} }, scale
  )
  for (const [index, target] of targets.entries()) {
    const server = servers[index] as Apart // there is one for each target
    const exit = once(server.process, 'exit') as Promise<[number | null, string | null]>
    server.process.kill('SIGTERM')
    const [code, signal] = await exit
    if (code !== 0) fault(`server ${index} ended with ${String(code ?? signal)}`)
    balancer.remove(target)
    const next = servers[index] = await launchApart(flags)
    await server.stop()
    balancer.add(targetOf(next))
    await more()
  }
  return await finish()
}
