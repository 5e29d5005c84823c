/**
 * TLS bootstrapping from start to end: a node with nothing but a bootstrap token gets a certificate of its own, and
 * serves the cluster with it.
 */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../build.js'
import { authority } from '../serving/authority.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere, until } from './server.js'

const policy = (spec: object): string => JSON.stringify({
  apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec: { user: 'ann', ...spec }
}) + '\n'
const REQUESTS = '/apis/certificates.orch.io/v1/certificatesigningrequests'
const SIGNER = 'orch.io/kube-apiserver-client-kubelet'
const RBAC = 'rbac.authorization.orch.io'

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'orch-system' },
  type: 'bootstrap.orch.io/token',
  stringData: {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:workers'
  }
}
const MAY_ASK = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'workers-may-ask' },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
  subjects: [{ kind: 'Group', apiGroup: RBAC, name: 'system:bootstrappers:workers' }]
}

for (const program of programs()) {
  t.test(`with kubectl ${program.version}`, async t => {
    const folder = t.testdir({
      policy: policy({ namespace: '*', resource: '*', apiGroup: '*' }) + policy({ nonResourcePath: '*' })
    })
    const server = await ServerHere.start(
      t,
      [
        '--authorization-mode=Node,RBAC,ABAC', `--authorization-policy-file=${folder}/policy`,
        '--enable-bootstrap-token-auth'
      ]
    )
    const admin = new Kubectl(t, program, server.tokenConfig())
    for (const object of [SECRET, MAY_ASK]) await admin.ok('create', `--filename=${admin.file('object.json', object)}`)

    // The node: a token from its administrator, and a private key.
    const node = new Kubectl(t, program, server.kubeconfig('bootstrap', { token: 'abcdef.0123456789abcdef' }))
    const file = (name: string): string => join(folder, name)
    const openssl = (...args: string[]): void => { execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }) }
    openssl(
      'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'node.key',
      '-subj', '/O=system:nodes/CN=system:node:n1', '-out', 'node.csr'
    )
    const request = {
      apiVersion: 'certificates.orch.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'n1' },
      spec: {
        signerName: SIGNER,
        request: readFileSync(file('node.csr')).toString('base64'),
        usages: ['digital signature', 'client auth']
      }
    }
    t.match(await node.refused('get', 'nodes'), /User "system:bootstrap:abcdef" cannot list resource "nodes"/)
    await node.ok('create', '--raw', REQUESTS, `--filename=${node.file('request.json', request)}`)
    const asked = async (): Promise<Json> => JSON.parse(await node.ok('get', `--raw=${REQUESTS}/n1`)) as Json
    t.match(
      await asked(),
      {
        spec: {
          username: 'system:bootstrap:abcdef',
          groups: ['system:bootstrappers', 'system:bootstrappers:workers', 'system:authenticated'],
          signerName: SIGNER
        }
      },
      'the requestor is the sender, not the user that the request names'
    )
    t.match(
      (await node.run([
        'replace', `--raw=${REQUESTS}/n1/approval`, `--filename=${node.file('request.json', request)}`
      ])).err,
      /cannot update resource "certificatesigningrequests\/approval"/,
      'and approves nothing'
    )

    // The administrator approves, the signer signs.
    const approved = {
      ...await asked(),
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Known', message: 'it is one of ours' }] }
    }
    await admin.ok('replace', `--raw=${REQUESTS}/n1/approval`, `--filename=${admin.file('approved.json', approved)}`)
    const ca = authority('node authority')
    writeFileSync(file('ca.crt'), ca.certificate)
    writeFileSync(file('ca.key'), ca.key)
    writeFileSync(file('usage'), 'keyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n')
    openssl(
      'x509', '-req', '-in', 'node.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-set_serial', '7', '-days', '1',
      '-extfile', 'usage', '-out', 'node.crt'
    )
    const issued = await asked()
    t.match(issued['status'].conditions, [{ type: 'Approved' }])
    issued['status'].certificate = readFileSync(file('node.crt')).toString('base64')
    await admin.ok('replace', `--raw=${REQUESTS}/n1/status`, `--filename=${admin.file('issued.json', issued)}`)

    // The node reads the certificate from its request and returns as itself.
    writeFileSync(file('issued.crt'), Buffer.from(String((await asked())['status'].certificate), 'base64'))
    const own = new Kubectl(
      t, program, server.kubeconfig('n1', { 'client-certificate': file('issued.crt'), 'client-key': file('node.key') })
    )
    t.match(await own.refused('get', 'nodes'), /Unauthorized|must be logged in/, 'while its authority is not trusted')
    appendFileSync(join(server.folder, 'clients.crt'), ca.certificate)
    await until('the authority of nodes to be trusted', async () => (await own.run(['get', 'nodes'])).code === 0)
    await own.ok(
      'create', `--filename=${own.file('node.json', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })}`
    )
    t.equal(await own.ok('get', 'nodes', '--output=name'), 'node/n1')
    t.match(await own.refused('get', 'secrets', '--namespace=orch-system'), /cannot list resource "secrets"/)

    await admin.ok('delete', 'secret', 'bootstrap-token-abcdef', '--namespace=orch-system')
    t.match(
      await node.refused('get', `--raw=${REQUESTS}/n1`), /Unauthorized|must be logged in/, 'the token has done its work'
    )
  })
}
