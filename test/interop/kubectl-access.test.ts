/**
 * Permissions, queried and written with real kubectl everyProgram. What they know only under other names they refuse
 * themselves.
 */
import t from 'tap'
import { Kubectl, everyProgram } from './kubectl.js'
import { ServerHere } from './server.js'

const GROUP = 'rbac.authorization.orch.io'
const review = (verb: string): object => ({
  apiVersion: 'authorization.orch.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: { verb, resource: 'configmaps', namespace: 'default' } }
})
const ROLE = {
  apiVersion: `${GROUP}/v1`,
  kind: 'Role',
  metadata: { name: 'reader', namespace: 'default' },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
}
const BINDING = {
  apiVersion: `${GROUP}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'readers', namespace: 'default' },
  roleRef: { apiGroup: GROUP, kind: 'Role', name: 'reader' },
  subjects: [{ apiGroup: GROUP, kind: 'User', name: 'ann' }]
}

for (const program of everyProgram()) {
  t.test(`with kubectl ${program.version}`, async t => {
    const folder = t.testdir({ tokens: 'interop-token,root,1,system:masters\nann-token,ann,2\n' })
    const server = await ServerHere.start(t, ['--authorization-mode=Node,RBAC', `--token-auth-file=${folder}/tokens`])
    const root = new Kubectl(t, program, server.kubeconfig('root', { token: 'interop-token' }))
    const ann = new Kubectl(t, program, server.kubeconfig('ann', { token: 'ann-token' }))
    // Without validation: for objects without a patch verb, later everyProgram look for a definition, which ann may not
    // list.
    const may = async (verb: string): Promise<string> => await ann.ok(
      'create', '--validate=false', `--filename=${ann.file('review.json', review(verb))}`,
      '--output=jsonpath={.status.allowed}'
    )
    t.equal(await may('list'), 'false')
    t.match(await ann.refused('get', 'configmaps'), /Forbidden.*User "ann" cannot list resource "configmaps"/)
    const files = [root.file('role.json', ROLE), root.file('binding.json', BINDING)]
    for (const file of files) t.match(await root.ok('apply', `--filename=${file}`), /created$/)
    t.equal(await may('list'), 'true')
    t.equal(await may('delete'), 'false')
    await ann.ok('get', 'configmaps')
    for (const file of files) {
      t.match(await root.ok('apply', `--filename=${file}`), /unchanged$/, 'applied again it is as it was')
    }
    t.match(
      await root.refused('auth', 'reconcile', `--filename=${files[0]}`),
      /no kind "Role" is registered for version|no matches for kind/,
      'this command knows no names but those it was built with'
    )
  })
}
