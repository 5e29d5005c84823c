/** A server whose pod runs on a node agent of the test, for programs that connect to pods. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from '../build.js'
import { flagged, SERVER_FILES, type Flagged } from '../flagged-server.js'
import { PODS, withPod, type NodeAgent } from '../node-agent.js'
import { authority } from '../serving/authority.js'
import { TOKEN, type User } from './server.js'

/** A folder with the files of a server, and of its users. */
export function folderOf (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-connecting-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const clients = authority('clients')
  const cora = clients.issue({ commonName: 'cora', uses: ['client'] })
  const files = {
    ...SERVER_FILES, 'tokens.csv': `${TOKEN},ann,1\n`, 'clients.crt': clients.certificate, 'cora.crt': cora.certificate,
    'cora.key': cora.key
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 })
  return folder
}

/** A server with a pod on the agent's node, which is this machine. */
export async function serverOf (t: Test, folder: string, agent: NodeAgent, ...flags: string[]): Promise<Flagged> {
  const server = await flagged(
    t, folder,
    [...agent.flags, ...flags, `--token-auth-file=${folder}/tokens.csv`, `--client-ca-file=${folder}/clients.crt`],
    { connections: { nearby: true } }
  )
  await withPod(server, agent.port)
  await server.patch(`${PODS}/web/status`, { status: { phase: 'Running' } })
  return server
}

export const ANN: User = { token: TOKEN }
export const coraIn = (folder: string): User =>
  ({ 'client-certificate': join(folder, 'cora.crt'), 'client-key': join(folder, 'cora.key') })

/** @returns its path */
export function kubeconfigIn (folder: string, port: number, user: User = ANN): string {
  const path = join(folder, 'kubeconfig')
  writeFileSync(path, JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user }]
  }))
  return path
}
