/** examples/kubeconfig.yaml with the two commands from its head, except for the port number. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { authority } from '../serving/authority.js'
import { ask, launch, nodeFlags, until } from '../interop/server.js'
import { freePort } from '../ports.js'
import { kubectlPrograms } from '../tools.js'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const LAUNCHER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

t.test('the kubeconfig opens a server started as it says, with a token and with a certificate', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'))
  const port = await freePort()
  const kubeconfig = join(folder, 'examples/kubeconfig.yaml')
  cpSync(join(PROJECT, 'examples/tokens.csv'), join(folder, 'examples/tokens.csv'))
  const text = readFileSync(join(PROJECT, 'examples/kubeconfig.yaml'), 'utf8')
  writeFileSync(kubeconfig, text.replace(':6443', `:${port}`))
  const clients = authority('clients')
  const { certificate, key } = clients.issue({ commonName: 'cora', uses: ['client'] })
  mkdirSync(join(folder, 'orch-data/clients'), { recursive: true })
  for (const [name, content] of Object.entries({
    'cora.crt': certificate, 'cora.key': key, 'ca.crt': clients.certificate
  })) {
    writeFileSync(join(folder, 'orch-data/clients', name), content)
  }

  const [, start = ''] = /npm start -- (.*)/.exec(text) ?? []
  const [, call = ''] = /kubectl (.*)/.exec(text) ?? []
  const server = launch(
    process.execPath,
    [
      ...nodeFlags(), LAUNCHER, ...start.split(' '), `--secure-port=${port}`,
      '--client-ca-file=orch-data/clients/ca.crt'
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] }
  )
  let log = ''
  server.stderr.on('data', (piece: Buffer) => { log += piece.toString() })
  const gone = once(server, 'exit')
  t.teardown(async () => {
    server.kill('SIGKILL')
    await gone
    rmSync(folder, { recursive: true, force: true })
  })
  const ca = (): string => readFileSync(join(folder, 'orch-data/certs/apiserver.crt'), 'utf8')
  await until(() => `the server to be ready: ${log}`, async () => {
    if (server.exitCode !== null) throw new Error(log)
    return log.includes('serving on') &&
      (await ask(`https://localhost:${port}/readyz`, { ca: ca(), token: 'change-me' })).code === 200
  })
  for (const context of ['token', 'certificate']) {
    const { status, stdout, stderr } = spawnSync(
      kubectlPrograms()[0], [...call.split(' '), `--context=${context}`],
      { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } }
    )
    t.equal(status, 0, stderr)
    t.match(stdout, /^default +Active +\d+s$/m)
  }
  t.equal(
    (await ask(`https://localhost:${port}/api/v1/namespaces`, { ca: ca() })).code, 401,
    'requests without credentials are refused'
  )
})
