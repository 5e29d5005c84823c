/** kubectl's `auth` commands, which know the public project's names alone, through the command of examples/stock-names, as the package has it, on roles and bindings of ours. */
import t from 'tap'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Json, Test } from '../build.js'
import { Kubectl, programs } from './kubectl.js'
import { ask, launch, RunningServer, until } from './server.js'
import { freePort } from '../ports.js'

const PROXY = fileURLToPath(new URL('../../bundle/stock-names.js', import.meta.url))
const STOCK = 'rbac.authorization.k8s.io'
const OURS = 'rbac.authorization.orch.io'

/** The program, with the certificate that the server made for itself. @returns its URL */
async function startProxy (t: Test, { url, caFile, ca }: RunningServer): Promise<string> {
  const port = await freePort()
  const files = [`--certificate-authority=${caFile}`, `--tls-cert-file=${caFile}`, `--tls-private-key-file=${caFile.replace(/crt$/, 'key')}`]
  const program = launch(process.execPath, [PROXY, `--server=${url}`, `--port=${port}`, ...files], { stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = once(program, 'exit')
  t.teardown(async () => {
    program.kill()
    await gone
  })
  const proxy = `https://127.0.0.1:${port}`
  await until('the proxy to listen', async () => (await ask(`${proxy}/readyz`, { ca, token: 'root-token' })).code === 200)
  return proxy
}

const yaml = (roleRules: string, subjects: string): string => `
apiVersion: ${STOCK}/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [${roleRules}]
---
apiVersion: ${STOCK}/v1
kind: RoleBinding
metadata: {name: readers, namespace: default}
roleRef: {apiGroup: ${STOCK}, kind: Role, name: reader}
subjects: [${subjects}]
---
apiVersion: ${STOCK}/v1
kind: ClusterRole
metadata: {name: role-reader}
rules: [{apiGroups: [${STOCK}], resources: [roles], verbs: [get]}]
---
apiVersion: ${STOCK}/v1
kind: ClusterRoleBinding
metadata: {name: role-readers}
roleRef: {apiGroup: ${STOCK}, kind: ClusterRole, name: role-reader}
subjects: [{apiGroup: ${STOCK}, kind: User, name: ann}]
`
const user = (name: string): string => `{apiGroup: ${STOCK}, kind: User, name: ${name}}`
const rule = (resource: string): string => `{apiGroups: [''], resources: [${resource}], verbs: [get, list]}`

for (const program of programs()) {
  t.test(`kubectl ${program.version}`, async t => {
    const folder = t.testdir({ tokens: 'root-token,root,1,system:masters\nann-token,ann,2\ninterop-token,health,3,system:masters\n' })
    const server = await RunningServer.start(t, ['--authorization-mode=RBAC', `--token-auth-file=${folder}/tokens`])
    const proxy = `--server=${await startProxy(t, server)}`
    const root = new Kubectl(t, program, server.kubeconfig('root', { token: 'root-token' }))
    const ann = new Kubectl(t, program, server.kubeconfig('ann', { token: 'ann-token' }))
    const reconcile = async (rules: string[], names: string[], ...flags: string[]): Promise<string> =>
      await root.ok(proxy, 'auth', 'reconcile', `--filename=${root.file('access.yaml', yaml(rules.map(rule).join(), names.map(user).join()))}`, ...flags)
    const stored = async (path: string): Promise<Json> => JSON.parse((await server.ask(`/apis/${OURS}/v1/namespaces/default/${path}`)).body) as Json
    // What is missing may come as a rule for each verb.
    const resources = async (): Promise<string[]> => [...new Set<string>((await stored('roles/reader'))['rules'].flatMap((each: Json) => each['resources']))]
    const subjects = async (): Promise<string[]> => (await stored('rolebindings/readers'))['subjects'].map((each: Json) => each['name'])
    const may = async (...args: string[]): Promise<string> => (await ann.run([proxy, 'auth', 'can-i', ...args])).out.trim()

    await t.test('auth reconcile', async t => {
      await reconcile(['configmaps'], ['ann'], '--dry-run=client')
      t.match(await root.refused(proxy, 'auth', 'reconcile', '--filename=none', '--dry-run=server'), /not supported/, 'by kubectl, in every release')
      t.match(await stored('roles/reader'), { code: 404 })
      t.equal((await reconcile(['configmaps'], ['ann'])).match(/ reconciled$/gm)?.length, 4)
      t.match(await stored('roles/reader'), { apiVersion: `${OURS}/v1`, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }] })
      t.match(await stored('rolebindings/readers'), { apiVersion: `${OURS}/v1`, roleRef: { apiGroup: OURS }, subjects: [{ apiGroup: OURS, name: 'ann' }] })
      await reconcile(['services'], ['bob'])
      t.strictSame([await resources(), await subjects()], [['configmaps', 'services'], ['ann', 'bob']], 'what is missing is added')
      await reconcile(['configmaps'], ['ann'], '--remove-extra-permissions', '--remove-extra-subjects')
      t.strictSame([await resources(), await subjects()], [['configmaps'], ['ann']], 'what is too much is taken away')
    })

    await t.test('auth can-i', async t => {
      for (const [args, answer] of [
        [['list', 'configmaps'], 'yes'], [['delete', 'configmaps'], 'no'], [['get', `roles.${STOCK}`], 'yes'], [['get', `rolebindings.${STOCK}`], 'no'], [['get', '/version'], 'yes']
      ] as const) t.equal(await may(...args), answer, args.join(' '))
      t.match(await may('--list'), new RegExp(`^roles\\.${STOCK} `, 'm'))
      t.equal((await ann.run([proxy, 'auth', 'can-i', 'list', 'configmaps', '--token=nobody'])).code, 1)
    })

    await t.test('the rest of the day', async t => {
      const file = root.file('apply.yaml', yaml(rule('secrets'), user('cora')))
      t.match(await root.ok(proxy, 'apply', `--filename=${file}`), new RegExp(`role.${STOCK}/reader configured`))
      // Older ones look for types in a document that is not translated, to know whether they can be tried.
      if (program.minor >= 27) {
        t.equal(await root.ok(proxy, 'diff', `--filename=${file}`), '')
        t.match(await root.ok(proxy, 'explain', 'roles.rules'), new RegExp(`GROUP: +${STOCK}`))
        t.match(await root.ok(proxy, 'create', 'role', 'dry', '--verb=get', '--resource=pods', '--dry-run=server'), /server dry run/)
      }
      await root.ok(proxy, 'create', 'role', 'made', '--verb=get', '--resource=pods')
      const watch = root.begin(t, proxy, 'get', 'roles', '--watch', '--output-watch-events')
      await watch.shows(/ADDED +made/)
      await root.ok(proxy, 'patch', 'role', 'made', '--type=merge', '--patch={"metadata":{"labels":{"a":"b"}}}')
      await watch.shows(/MODIFIED +made/)
      t.match(await root.ok(proxy, 'get', 'rolebindings', 'readers', '--output=yaml'), new RegExp(`apiGroup: ${STOCK}`))
      t.match(await root.ok(proxy, 'delete', 'role', 'made'), /deleted/)
    })
  })
}
