/** The flags of examples/control-plane/ on a store of its own: which paths and verbs each kind of client may use. */
import t from 'tap'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Pair } from '../../config/certificates.js'
import { prepare } from '../../examples/control-plane/prepare.js'
import { certify } from '../../serving/certify.js'
import type { Json } from '../build.js'
import { launch, nodeFlags, until } from '../interop/server.js'
import { freePort } from '../ports.js'

const LAUNCHER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const DAY = 86_400_000

/** Non-resource paths. */
const PATHS = [
  '/healthz', '/livez', '/readyz', '/version', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/openapi/v2',
  '/openapi/v3', '/.well-known/openid-configuration', '/openid/v1/jwks', '/metrics', '/logs', '/debug/pprof', '/nothing'
]
const HEALTH = ['/healthz', '/livez', '/readyz', '/version']
const DISCOVERY = [...HEALTH, '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/openapi/v2', '/openapi/v3']
const ISSUER = ['/.well-known/openid-configuration', '/openid/v1/jwks']
/** Allowed for every authenticated user: questions about themselves. */
const SELF = ['create selfsubjectaccessreviews', 'create selfsubjectrulesreviews']
const NODE = [
  'create tokenreviews', 'create localsubjectaccessreviews', 'create subjectaccessreviews', 'get services',
  'list services', 'watch services',
  'create nodes', 'get nodes', 'list nodes', 'watch nodes', 'update nodes', 'patch nodes', 'update nodes/status',
  'patch nodes/status',
  'create events', 'patch events', 'update events', 'get pods', 'list pods', 'watch pods', 'create pods', 'delete pods',
  'patch pods/status', 'update pods/status', 'create pods/eviction',
  'get endpoints', 'create certificatesigningrequests', 'get certificatesigningrequests',
  'list certificatesigningrequests', 'watch certificatesigningrequests',
  'get csidrivers', 'list csidrivers', 'watch csidrivers', 'create csinodes', 'get runtimeclasses',
  'list runtimeclasses', 'watch runtimeclasses'
]

type Who = { readonly pair?: Pair, readonly token?: string }

t.test('each kind of client is let through where the table says, and nowhere else', async t => {
  const parent = mkdtempSync(join(tmpdir(), 'orch-hardened-'))
  t.teardown(() => { rmSync(parent, { recursive: true, force: true }) })
  const folder = join(parent, 'out')
  prepare(folder, [10, 11, 12].map((last, index) => ({ name: `node-${index}`, address: `127.0.78.${last}` })))
  const manifest = parse(readFileSync(join(folder, 'node-0/manifests/orch-apiserver.yaml'), 'utf8')) as Json
  const port = await freePort()
  const flags = (manifest['spec'].containers[0].args as string[]).filter(flag => !flag.startsWith('--etcd')).map(
    flag => flag.replace('/etc/orch/pki', join(folder, 'node-0/pki')).replace('6443', String(port))
  )
  const child = launch(
    process.execPath, [...nodeFlags(), LAUNCHER, ...flags, `--data-dir=${parent}/data`],
    { cwd: parent, stdio: ['ignore', 'ignore', 'pipe'] }
  )
  t.teardown(() => { child.kill('SIGKILL') })
  let log = ''
  child.stderr.on('data', (piece: Buffer) => { log += piece.toString() })

  const agents = new Map<Who, Agent>()
  t.teardown(() => { for (const agent of agents.values()) agent.destroy() })
  const ask = (who: Who, method: string, path: string, body?: Json): Promise<{ code: number, text: string }> => {
    let agent = agents.get(who)
    if (agent === undefined) {
      agents.set(
        who,
        agent = new Agent({
          keepAlive: true,
          maxSockets: 4,
          rejectUnauthorized: false,
          ...(who.pair === undefined ? {} : { cert: who.pair.certificate, key: who.pair.key })
        })
      )
    }
    const headers = {
      ...(who.token === undefined ? {} : { authorization: `Bearer ${who.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' })
    }
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.78.10', port, path, method, agent, headers }, answer => {
        let text = ''
        answer.setEncoding('utf8')
          .on('data', (piece: string) => { text += piece })
          .on('end', () => { resolve({ code: answer.statusCode ?? 0, text }) })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
  const anonymous: Who = {}
  await until(() => `the server to be ready: ${log}`, async () => {
    if (child.exitCode !== null) throw new Error(log)
    return await ask(anonymous, 'GET', '/readyz').then(({ code }) => code === 200, () => false)
  })

  const authority = { commonName: 'orch', key: readFileSync(join(folder, 'authorities/ca.key'), 'utf8') }
  const client = (commonName: string, organizations: string[] = []): Who => ({
    pair: certify({
      commonName,
      organizations,
      uses: ['client'],
      issuer: authority,
      from: new Date(Date.now() - DAY),
      until: new Date(Date.now() + DAY)
    })
  })
  const admin = client('admin', ['system:masters'])
  const account = await ask(admin, 'POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} })
  t.equal(account.code, 201, account.text)

  const documents = async (path: string): Promise<Json> => JSON.parse((await ask(admin, 'GET', path)).text) as Json
  const versions = [
    '/api/v1',
    ...((await documents('/apis'))['groups'] as Json[]).flatMap(({ versions }) =>
      (versions as Json[]).map(({ groupVersion }) => `/apis/${String(groupVersion)}`))
  ]
  const METHODS: Readonly<Record<string, string>> = {
    get: 'GET',
    list: 'GET',
    watch: 'GET',
    create: 'POST',
    update: 'PUT',
    patch: 'PATCH',
    delete: 'DELETE',
    deletecollection: 'DELETE'
  }
  /** Each resource and verb in discovery: its title in the table, and its request. */
  const questions: Array<{ readonly title: string, readonly method: string, readonly path: string }> = []
  for (const version of versions) {
    for (const { name, namespaced, verbs } of (await documents(version))['resources'] as Array<{
      name: string
      namespaced: boolean
      verbs: string[]
    }>) {
      const [plural = '', subresource] = name.split('/')
      const collection = `${version}/${namespaced ? 'namespaces/default/' : ''}${plural}`
      for (const verb of verbs) {
        const method = METHODS[verb]
        if (method === undefined) throw new Error(`${name} has the verb ${verb}`)
        const ofCollection = subresource === undefined && ['list', 'watch', 'create', 'deletecollection'].includes(verb)
        const path = ofCollection
          ? `${collection}${verb === 'watch' ? '?watch=1&timeoutSeconds=0&resourceVersion=nonsense' : ''}`
          : `${collection}/other${subresource === undefined ? '' : `/${subresource}`}`
        questions.push({ title: `${verb} ${name}`, method, path })
      }
    }
  }
  t.ok(questions.length > 500, `${questions.length} questions`)

  for (const [title, who, paths, verbs] of [
    ['anonymous', anonymous, HEALTH, []],
    ['an ordinary user', client('ann', ['devs']), DISCOVERY, SELF],
    [
      'a service account', { token: (JSON.parse(account.text) as Json)['status'].token as string },
      [...DISCOVERY, ...ISSUER], SELF
    ],
    ['a node', client('system:node:n1', ['system:nodes']), DISCOVERY, [...SELF, ...NODE]]
  ] as const) {
    const through = new Set<string>()
    for (const path of PATHS) if ((await ask(who, 'GET', path)).code !== 403) through.add(path)
    t.strictSame([...through].sort(), [...paths].sort(), `${title}: paths`)
    const allowed = new Set<string>()
    for (const { title, method, path } of questions) if ((await ask(who, method, path)).code !== 403) allowed.add(title)
    t.strictSame([...allowed].sort(), [...new Set(verbs)].sort(), title)
  }
  t.notMatch(log, /ERROR/)
})
