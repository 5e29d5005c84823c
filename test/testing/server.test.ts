import t from 'tap'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import {
  testServer, type Fixture, type TestServer, type TestServerOptions, type TestUser
} from '../../testing/index.js'
import { Watch, type Json, type Test } from '../build.js'
import { kubectlPrograms } from '../tools.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

async function started (t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer(options)
  t.teardown(() => server.dispose())
  return server
}

function configOf (server: TestServer, user?: TestUser): KubeConfig {
  const config = new KubeConfig()
  config.loadFromOptions(server.clientConfig(user))
  return config
}

const get = async (
  server: TestServer, path: string, headers: Record<string, string> = {}
): Promise<{ code: number, json: Json }> => {
  const response = await fetch(server.url + path, { headers })
  return { code: response.status, json: await response.json() as Json }
}

const DEFINITION = {
  apiVersion: 'apiextensions.orch.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'sites.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'sites', kind: 'Site' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
      }
    ]
  }
}
const config = (name: string, more: object = {}): object => ({
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more
})

t.test(
  'fixtures are there when the server is: ' +
  'objects, lists, texts, files and folders, definitions before objects of theirs',
  async t => {
    const folder = t.testdir({
      nested: { 'b.json': JSON.stringify(config('from-json')), 'ignored.txt': 'no: object' },
      'a.yaml':
        '# a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-yaml}\ndata: {answer: "no"}\n' +
        '---\n---\napiVersion: example.com/v1\nkind: Site\nmetadata: {name: first, namespace: team}\n' +
        'status: {ready: true}\n'
    })
    const fixtures: Fixture = [
      folder,
      pathToFileURL(join(folder, 'nested/b.json')),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-text}\n',
      { apiVersion: 'v1', kind: 'List', items: [config('in-list')] },
      { apiVersion: 'v1', kind: 'ConfigMapList', items: [{ metadata: { name: 'in-typed-list' } }] },
      [config('in-array', { data: { a: 'b' } })],
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: { mine: 'yes' } } },
      DEFINITION
    ]
    const server = await started(t, { fixtures })
    const { json: { items } } = await get(server, CONFIGS)
    const names = (items as Json[]).map(({ metadata }) => metadata.name)
    for (const name of ['from-json', 'from-yaml', 'from-text', 'in-list', 'in-typed-list', 'in-array']) {
      t.ok(names.includes(name), name)
    }
    t.equal((await get(server, `${CONFIGS}/from-yaml`)).json['data'].answer, 'no')
    t.match(
      (await get(server, '/apis/example.com/v1/namespaces/team/sites/first')).json, { status: { ready: true } },
      'with its status, in a namespace that it only named'
    )
    t.equal(
      (await get(server, '/api/v1/namespaces/default')).json['metadata'].labels.mine, 'yes',
      'objects the server creates itself are replaced'
    )
    t.equal(server.exchanges.find({ verb: 'create' }).length, 0, 'the loading is no exchange')

    await server.load(config('later'))
    t.equal((await get(server, `${CONFIGS}/later`)).code, 200)
  }
)

t.test('a fixture that cannot be loaded is named, with the reason, and no server is left', async t => {
  for (const [fixture, says] of [
    [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Capital' } },
      /fixture ConfigMap Capital \(an object\): 422 Invalid: .*metadata.name/
    ],
    [{ apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'a' } }, /the server has no kind ConfigMap in v9/],
    [[config('a'), { kind: 'ConfigMap' }], /object 1 is no object: it needs apiVersion and kind/],
    ['kind: ConfigMap\nkind: Pod\napiVersion: v1\n', /a text: duplicate field "kind"/],
    ['a: 1\n---\n{', /a text, document 1 is no object|a text, document 1: /],
    ['/no/such/folder', /\/no\/such\/folder: there is no such file or folder$/],
    [
      { ...DEFINITION, spec: { ...DEFINITION.spec, scope: 'Nowhere' } },
      /fixture CustomResourceDefinition sites.example.com \(an object\): 422/
    ]
  ] as Array<[Fixture, RegExp]>) await t.rejects(testServer({ fixtures: fixture }), says, String(says))
  await t.rejects(testServer({ server: { limits: { requestTimout: 5 } } as object }), { name: 'OptionError' })
})

t.test('a request without credentials is the administrator, or whom the options name; a token is any user', async t => {
  const rbac = { authorization: { modes: ['RBAC'] } } as const
  const server = await started(t, { server: rbac })
  t.equal((await get(server, CONFIGS)).code, 200)
  const ann = { username: 'ann', groups: ['team'] }
  t.match((await get(server, CONFIGS, { authorization: `Bearer ${server.token(ann)}` })), {
    code: 403, json: { message: /User "ann" cannot list/ }
  })
  t.match(server.exchanges.find({ user: 'ann' }), [], 'a request that authorization refuses reaches no handler')
  await server.load({
    apiVersion: 'rbac.authorization.orch.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'team' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.orch.io', name: 'team' }]
  })
  t.equal(
    (await configOf(server, ann)
      .makeApiClient(CoreV1Api)
      .listNamespacedConfigMap({ namespace: 'default' })).items.length >= 0,
    true
  )
  await t.rejects(
    configOf(server, { username: 'bob' }).makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: 'default' }),
    { code: 403 }
  )
  t.equal((await get(server, CONFIGS, { authorization: 'Bearer test-user.e30' })).code, 401)

  const closed = await started(t, { user: false, server: rbac })
  t.match(await get(closed, CONFIGS), { code: 403, json: { message: /system:anonymous/ } })
  const other = await started(t, { user: ann, server: rbac })
  t.match(await get(other, CONFIGS), { code: 403, json: { message: /User "ann"/ } })
})

t.test('requests of clients can be asserted on', async t => {
  const server = await started(t, { exchanges: 4 })
  const api = configOf(server, { username: 'ann' }).makeApiClient(CoreV1Api)
  const coming = server.exchanges.next({ verb: 'create', resource: 'configmaps' })
  await api.createNamespacedConfigMap({
    namespace: 'default', body: { metadata: { name: 'a' }, data: { key: 'value', other: 'one' } }
  })
  t.match(await coming, {
    method: 'POST',
    url: CONFIGS,
    user: 'ann',
    verb: 'create',
    resource: 'configmaps',
    namespace: 'default',
    name: '',
    body: { data: { key: 'value' } },
    status: 201,
    ended: true,
    faults: []
  })
  t.equal(await server.exchanges.next({ status: 201 }), await coming, 'one that is there is found at once')
  t.equal(server.exchanges.find({ body: { data: { key: 'value' } } }).length, 1)
  t.equal(server.exchanges.find({ body: { data: { key: 'another' } } }).length, 0)
  await get(server, `${CONFIGS}/none?pretty=1`)
  t.match(server.exchanges.find({ status: 404 }), [{ user: 'test-admin', verb: 'get', name: 'none', body: undefined }])
  t.equal(server.exchanges.find({ url: CONFIGS }).length, 2)
  t.equal(server.exchanges.find({ url: '/api/v1/namespaces/defaul' }).length, 0, 'a path is whole segments')
  t.equal(server.exchanges.find({ url: /pretty=1$/ }).length, 1)
  t.equal(server.exchanges.find({ method: 'post', group: '', namespace: 'default' }).length, 1)

  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1`)
  const open = await server.exchanges.next({ verb: 'watch' })
  t.match(open, { status: 200, ended: false })
  watch.response.destroy()
  while (!open.ended) await new Promise(resolve => { setTimeout(resolve, 5) })

  for (let at = 0; at < 6; at++) await get(server, `${CONFIGS}/none-${at}`)
  t.strictSame(
    [...server.exchanges].map(({ name }) => name), ['none-2', 'none-3', 'none-4', 'none-5'], 'the oldest are forgotten'
  )
  await get(server, '/readyz').catch(() => {})
  t.equal(server.exchanges.size, 4, 'probes do not count')
  server.exchanges.clear()
  t.equal(server.exchanges.size, 0)
  await get(server, '/nothing')
  t.match(await server.exchanges.next({ url: '/nothing' }), { status: 404, verb: 'get', resource: '' })
  const never = server.exchanges.next({ verb: 'delete' })
  await Promise.all([t.rejects(never, /was disposed before/), server.dispose()])
})

t.test('with TLS kubectl works with the kubeconfig, as any user', async t => {
  const server = await started(t, { tls: true, fixtures: [config('a', { data: { sky: 'blue' } })] })
  const folder = t.testdir()
  const file = await server.writeKubeconfig(`${folder}/kubeconfig`, { username: 'ann', groups: ['team'] })
  t.equal(statSync(file).mode & 0o777, 0o600)
  for (const path of kubectlPrograms()) {
    const { stdout } = await promisify(execFile)(path, [
      '--kubeconfig', file, '--cache-dir', `${folder}/cache`, '-n', 'default', 'get', 'configmap', 'a', '-o',
      'jsonpath={.data.sky}'
    ])
    t.equal(stdout, 'blue')
  }
  t.ok(server.exchanges.find({ user: 'ann', resource: 'configmaps', name: 'a', status: 200 }).length > 0)
  const made = await configOf(server)
    .makeApiClient(CoreV1Api)
    .readNamespacedConfigMap({ namespace: 'default', name: 'a' })
  t.equal(made.data?.['sky'], 'blue', 'and a client of the library trusts its certificate')
})

t.test('servers of a process are independent', async t => {
  const [one, other] = await Promise.all([started(t, { fixtures: [DEFINITION, config('a')] }), started(t)])
  t.equal((await get(one, `${CONFIGS}/a`)).code, 200)
  t.equal((await get(other, `${CONFIGS}/a`)).code, 404)
  const api = configOf(one).makeApiClient(CustomObjectsApi)
  await api.createNamespacedCustomObject({
    group: 'example.com',
    version: 'v1',
    plural: 'sites',
    namespace: 'default',
    body: { apiVersion: 'example.com/v1', kind: 'Site', metadata: { name: 'mine' } }
  })
  t.equal((await get(other, '/apis/example.com/v1/sites')).code, 404)
})

t.test('a process ends by itself when its servers are disposed, with clients that watch', async t => {
  const folder = t.testdir()
  mkdirSync(join(folder, 'fixtures'))
  writeFileSync(join(folder, 'fixtures/a.json'), JSON.stringify(config('a')))
  const entry = fileURLToPath(new URL('../../testing/index.js', import.meta.url))
  writeFileSync(join(folder, 'run.mjs'), `
    import { get } from 'node:http'
    import { testServer } from ${JSON.stringify(entry)}
    for (const tls of [false, true]) {
      const server = await testServer({ tls, fixtures: ['fixtures'] })
      const other = await testServer()
      await new Promise(resolve => {
        get(other.url + '${CONFIGS}?watch=1', { agent: false }, response => {
          response.on('error', () => {}).resume()
          resolve()
        }).on('error', () => {})
      })
      await server[Symbol.asyncDispose]()
      await server.dispose()
      await other.dispose()
    }
    // What it waits, not what it works, so a busy machine does not count.
    const waited = () => performance.eventLoopUtilization().idle
    const before = waited()
    process.on('exit', () => console.log('left after', waited() - before < 2000 ? 'nothing' : 'a while'))
  `)
  const { status, stdout, stderr } = spawnSync(
    process.execPath, ['run.mjs'], { cwd: folder, encoding: 'utf8', timeout: 60_000 }
  )
  t.match({ status, stdout, stderr }, { status: 0, stdout: 'left after nothing', stderr: '' })
})

t.test('the release that a server emulates decides about its gates', async t => {
  const definition = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object', 'x-orch-preserve-unknown-fields': true, 'x-orch-validations': [{ rule: 'false' }]
            }
          }
        }
      ]
    }
  }
  for (const [release, code] of [['1.24', 201], ['1.36', 422]] as const) {
    const server = await testServer({ release, fixtures: definition })
    t.teardown(() => server.dispose())
    const { status } = await fetch(`${server.url}/apis/example.com/v1/things`, {
      method: 'POST',
      body: JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }),
      headers: { 'content-type': 'application/json' }
    })
    t.equal(status, code, release)
  }
})
