/**
 * The servers under the soak test: the launcher on each store, and a host that embeds the plugin, in each of its
 * protocols; `hosts` are all of these in one process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEtcd } from '../etcd-process.js'
import { freePort } from '../ports.js'
import { startTarget, type Place, type Protocol, type Target } from './target.js'

const LAUNCHER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const HOST = fileURLToPath(new URL('host.js', import.meta.url))

interface Teardown { teardown: (then: () => unknown) => void }

export const TARGETS = ['embedded', 'etcd', 'host', 'host-tls', 'host-http2', 'host-h2c'] as const
export type TargetName = typeof TARGETS[number] | 'hosts'

const HOSTS: Readonly<Record<string, { secure: boolean, protocols: Protocol[] }>> = {
  host: { secure: false, protocols: ['http1'] },
  'host-tls': { secure: true, protocols: ['http1'] },
  'host-http2': { secure: true, protocols: ['http1', 'http2'] },
  'host-h2c': { secure: false, protocols: ['http2'] }
}

export async function target (t: Teardown, name: TargetName): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-soak-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const places: Place[] = []
  for (const [kind, host] of Object.entries(HOSTS)) {
    if (kind === name || name === 'hosts') {
      places.push({ name: kind, port: await freePort(), ...host, prefix: '/cluster' })
    }
  }
  const port = await freePort()
  const made = places.length === 0
    ? await startTarget([
        LAUNCHER, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${folder}`,
        '--etcd-compaction-interval=10s', `--audit-log-path=${join(folder, 'audit.log')}`, '--audit-log-maxsize=20',
        '--audit-log-maxbackup=1',
        name === 'etcd' ? `--etcd-servers=${(await startEtcd(t)).url}` : `--data-dir=${join(folder, 'data')}`
      ], [{ name, port, secure: true, protocols: ['http1', 'http2'], prefix: '' }])
    : await startTarget([HOST, ...places.flatMap(({ name, port }) => [name, String(port)])], places)
  t.teardown(() => made.stop())
  return made
}
