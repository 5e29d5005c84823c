/** Stock kubectl with impersonation, and with certificates of a CA that is replaced, against the started server. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { authority } from '../serving/authority.js'
import { Kubectl, programs } from './kubectl.js'
import { ServerHere, until } from './server.js'

const policy = (spec: object): string => JSON.stringify({
  apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec: { user: 'ann', ...spec }
}) + '\n'
const POLICY = policy({ namespace: '*', resource: '*', apiGroup: '*' }) + policy({ nonResourcePath: '*' })

const RBAC = 'rbac.authorization.orch.io'
const READERS = {
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'readers' },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
  subjects: [
    { kind: 'User', apiGroup: RBAC, name: 'bob' },
    { kind: 'Group', apiGroup: RBAC, name: 'readers' },
    { kind: 'ServiceAccount', name: 'default', namespace: 'default' }
  ]
}

for (const program of programs()) {
  t.test(`kubectl ${program.version}`, async t => {
    const folder = t.testdir({ policy: POLICY })
    const server = await ServerHere.start(
      t, ['--authorization-mode=ABAC,RBAC', `--authorization-policy-file=${folder}/policy`]
    )
    const kubectl = new Kubectl(t, program, server.tokenConfig())

    await t.test('--as and --as-group impersonate another user', async t => {
      t.match(await kubectl.refused('get', 'configmaps', '--as=bob'), /User "bob" cannot list resource "configmaps"/)
      // its own command for it knows another name of the group only
      await kubectl.ok('create', `--filename=${kubectl.file('readers.json', READERS)}`)
      await kubectl.ok('get', 'configmaps', '--as=bob')
      await kubectl.ok('get', 'configmaps', '--as=eve', '--as-group=readers')
      await kubectl.ok('get', 'configmaps', '--as=system:serviceaccount:default:default')
      t.match(await kubectl.refused('get', 'configmaps', '--as=eve'), /User "eve" cannot list/)
      t.match(
        await kubectl.refused('get', 'secrets', '--as=bob', '--as-group=readers'),
        /User "bob" cannot list resource "secrets"/
      )
    })

    await t.test('impersonation without the right to it is refused by name', async t => {
      const cora = new Kubectl(t, program, server.certificateConfig())
      t.match(
        await cora.refused('get', '--raw=/api/v1/namespaces/default/configmaps', '--as=ann'),
        /users "ann" is forbidden: User "cora" cannot impersonate resource "users" in API group "" at the cluster scope/
      )
    })

    await t.test('a CA that is removed from its file is no longer trusted, and one that is added is', async t => {
      const [old, other] = [server.certificateConfig(), authority('other clients')]
      const pair = other.issue({ commonName: 'dora', organizations: ['crew'], uses: ['client'] })
      const file = (name: string): string => join(server.folder, name)
      writeFileSync(file('dora.crt'), pair.certificate)
      writeFileSync(file('dora.key'), pair.key, { mode: 0o600 })
      const cora = new Kubectl(t, program, old)
      const dora = new Kubectl(
        t, program,
        server.kubeconfig('dora', { 'client-certificate': file('dora.crt'), 'client-key': file('dora.key') })
      )
      t.match(await cora.refused('get', 'configmaps'), /User "cora"/)
      t.match(await dora.refused('get', 'configmaps'), /Unauthorized|must be logged in/)
      writeFileSync(file('clients.crt'), other.certificate)
      await until('the new CA to be taken up', async () => /User "dora"/.test(await dora.refused('get', 'configmaps')))
      t.match(await cora.refused('get', 'configmaps'), /Unauthorized|must be logged in/)
      await until('it to be published', async () => (await kubectl.ok(
        'get', 'configmap', 'extension-apiserver-authentication', '--namespace=orch-system',
        '--output=jsonpath={.data.client-ca-file}'
      )).includes(other.certificate.trim()))
    })
  })
}
