/**
 * What envtest does with the program that TEST_ASSET_KUBE_APISERVER names: its flags over a real etcd, its files, its
 * health check, its administrator.
 */
import t from 'tap'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEtcd } from './etcd-process.js'
import { freePort } from './ports.js'
import { authority } from './serving/authority.js'
import { kubectlPrograms } from './tools.js'

const PROGRAM = fileURLToPath(new URL('../bundle/cli.js', import.meta.url))

interface Answer { readonly code: number, readonly text: string }

const ask = async (port: number, path: string, agent: Agent): Promise<Answer> =>
  await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent }, response => {
      let text = ''
      response.setEncoding('utf8')
        .on('data', (part: string) => { text += part })
        .on('end', () => { resolve({ code: response.statusCode ?? 0, text }) })
    }).on('error', reject).end()
  })

t.test('the program says in --help which flags it has: envtest looks for --insecure-port', async t => {
  const { status, stdout } = spawnSync(PROGRAM, ['--help'], { encoding: 'utf8' })
  t.equal(status, 0)
  t.notMatch(stdout, /insecure-port/)
})

for (const compatNames of [false, true]) {
  t.test(`a test environment starts with envtest's flags${compatNames ? ' and the public names' : ''}`, async t => {
    const etcd = await startEtcd(t)
    const certDir = t.testdir()
    const servers = authority('envtest-environment')
    const serving = servers.issue({ commonName: 'localhost', names: ['localhost', '127.0.0.1'], uses: ['server'] })
    const users = authority('envtest-users')
    const admin = users.issue({ commonName: 'default', organizations: ['system:masters'], uses: ['client'] })
    const other = users.issue({ commonName: 'ann', organizations: ['team'], uses: ['client'] })
    const signer = authority('envtest-accounts')
    const files = {
      'apiserver.crt': serving.certificate, 'apiserver.key': serving.key, 'sa-signer.crt': signer.certificate,
      'sa-signer.key': signer.key,
      'client-cert-auth-ca.crt': users.certificate, 'admin.crt': admin.certificate, 'admin.key': admin.key,
      'server-ca.crt': servers.certificate
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(`${certDir}/${name}`, text)
    const port = await freePort()
    // as controller-runtime's control plane has them, in its order, which is that of their names
    const child = spawn(PROGRAM, [
      '--allow-privileged=true', '--authorization-mode=RBAC', '--bind-address=127.0.0.1', `--cert-dir=${certDir}`,
      `--client-ca-file=${certDir}/client-cert-auth-ca.crt`,
      ...compatNames ? ['--compat-names=true'] : [], '--disable-admission-plugins=ServiceAccount',
      ...compatNames ? ['--emulated-version=1.36'] : [], `--etcd-servers=${etcd.url}`, `--secure-port=${port}`,
      `--service-account-issuer=https://127.0.0.1:${port}/`, `--service-account-key-file=${certDir}/sa-signer.crt`,
      `--service-account-signing-key-file=${certDir}/sa-signer.key`,
      '--service-cluster-ip-range=10.0.0.0/24'
    ], { stdio: ['ignore', 'ignore', 'pipe'], cwd: certDir })
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => { log += text })
    const exited = once(child, 'exit') as Promise<[number | null]>
    t.teardown(async () => {
      child.kill('SIGKILL')
      await exited
    })
    // Anybody may ask for the health; whether the certificate is trusted is not checked.
    const anybody = new Agent({ rejectUnauthorized: false })
    const administrator = new Agent({ ca: servers.certificate, cert: admin.certificate, key: admin.key })
    const ann = new Agent({ ca: servers.certificate, cert: other.certificate, key: other.key })
    t.teardown(() => { for (const agent of [anybody, administrator, ann]) agent.destroy() })
    for (;;) {
      const health = await ask(port, '/healthz', anybody).catch(() => undefined)
      if (health?.code === 200) break
      if (child.exitCode !== null) throw new Error(log)
      await new Promise(resolve => { setTimeout(resolve, 100) })
    }
    t.match(
      await ask(port, '/api/v1/namespaces/default', administrator), { code: 200 },
      'trusted by its authority, and the administrator by a certificate'
    )
    t.match(await ask(port, '/api/v1/namespaces/default', ann), { code: 403, text: /User \\"ann\\" cannot get/ })
    const domain = compatNames ? 'k8s.io' : 'orch.io'
    t.match(
      await ask(port, `/apis/apiextensions.${domain}/v1/customresourcedefinitions`, administrator),
      { code: 200, text: /"items":\[\]/ }, 'where envtest installs definitions'
    )

    const kubeconfig = `${certDir}/kubeconfig`
    writeFileSync(kubeconfig, JSON.stringify({
      apiVersion: 'v1', kind: 'Config', 'current-context': 'envtest',
      contexts: [{ name: 'envtest', context: { cluster: 'envtest', user: 'default' } }],
      clusters: [
        {
          name: 'envtest',
          cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': `${certDir}/server-ca.crt` }
        }
      ],
      users: [
        {
          name: 'default', user: { 'client-certificate': `${certDir}/admin.crt`, 'client-key': `${certDir}/admin.key` }
        }
      ]
    }))
    mkdirSync(`${certDir}/cache`)
    const program = kubectlPrograms().at(-1) ?? ''
    const own = ['--kubeconfig', kubeconfig, '--cache-dir', `${certDir}/cache`]
    const kubectl = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(program, [...own, ...args])).stdout
    t.equal(
      await kubectl('run', 'privileged', '--image=a', '--privileged', '-o', 'name', '--restart=Never'),
      'pod/privileged\n', 'no service account is needed'
    )
    await kubectl('create', 'serviceaccount', 'robot')
    const [, claims = ''] = (await kubectl('create', 'token', 'robot', '--duration=1h')).split('.')
    t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), {
      iss: `https://127.0.0.1:${port}/`, sub: 'system:serviceaccount:default:robot'
    })
    child.kill('SIGTERM')
    t.strictSame(await exited, [0, null], log.slice(-2000))
    t.match(readFileSync(`${certDir}/apiserver.crt`, 'utf8'), serving.certificate, 'its certificate is as it was')
  })
}
