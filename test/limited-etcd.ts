/**
 * An etcd with authentication, whose users are named by their certificates. The server's user is created by the
 * commands that `docs/operations.md` gives to operators, and has rights below `/registry` only.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { EtcdOptions } from '../storage/etcd/backend.js'
import { type EtcdProcess, startEtcd } from './etcd-process.js'
import { authority } from './serving/authority.js'
import { etcdctlProgram } from './tools.js'

const operations = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8')
/** Run as if pasted. */
const commands = /```sh etcd-user\n([^]*?)```/.exec(operations)?.[1]
const neighbour =
  'etcdctl user add neighbour --no-password && etcdctl role add neighbour && etcdctl role grant-permission neighbour ' +
  'readwrite --prefix /other/ && etcdctl user grant-role neighbour neighbour'

export interface LimitedEtcd {
  readonly etcd: EtcdProcess
  /** Connection options of these users; `url` if it is not etcd's own. */
  readonly as: (user: 'orch-apiserver' | 'neighbour', url?: string) => EtcdOptions
  /** The flags of a server with the user of the documentation. */
  readonly flags: (url?: string) => string[]
}

export async function startLimitedEtcd (t: Test): Promise<LimitedEtcd> {
  if (commands === undefined) throw new Error('docs/operations.md gives no commands for a user of etcd')
  const own = authority('etcd authority')
  // Without a name: etcd would take its own certificate for a user's.
  const server = own.issue({ commonName: '', names: ['127.0.0.1', 'localhost'], uses: ['server', 'client'] })
  const pairs = Object.fromEntries(['root', 'orch-apiserver', 'neighbour'].map(
    commonName => [commonName, own.issue({ commonName, uses: ['client'] })]
  ))
  const folder = t.testdir({
    'ca.crt': own.certificate, 'server.crt': server.certificate, 'server.key': server.key,
    ...Object.fromEntries(Object.entries(pairs).flatMap(([name, { certificate, key }]) => [
      [`${name}.crt`, certificate], [`${name}.key`, key]
    ]))
  })
  const file = (name: string): string => join(folder, name)
  const etcd = await startEtcd(t, {
    ca: file('ca.crt'), certificate: file('server.crt'), key: file('server.key'), clientAuth: true
  })

  const program = etcdctlProgram()
  const { status, stdout, stderr } = spawnSync('bash', [
    '-euo', 'pipefail', '-c', `etcdctl () { '${program}' "$@"; }\n${neighbour}\n${commands}`
  ], {
    encoding: 'utf8',
    env: {
      ...process.env,
      ETCDCTL_API: '3',
      ETCDCTL_ENDPOINTS: etcd.url,
      ETCDCTL_CACERT: file('ca.crt'),
      ETCDCTL_CERT: file('root.crt'),
      ETCDCTL_KEY: file('root.key')
    }
  })
  if (status !== 0) throw new Error(`the commands of docs/operations.md failed: ${stdout}${stderr}`)

  return {
    etcd,
    as: (user, url = etcd.url) => ({
      servers: [url],
      ca: own.certificate,
      certificate: readFileSync(file(`${user}.crt`)),
      key: readFileSync(file(`${user}.key`))
    }),
    flags: (url = etcd.url) => [
      `--etcd-servers=${url}`, `--etcd-cafile=${file('ca.crt')}`, `--etcd-certfile=${file('orch-apiserver.crt')}`,
      `--etcd-keyfile=${file('orch-apiserver.key')}`
    ]
  }
}
