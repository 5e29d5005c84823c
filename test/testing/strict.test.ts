/**
 * What a test means to say and does not: unknown fields, options, verbs and resources are errors that name their place.
 */
import t, { type Test } from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { testServer, type TestServer, type TestServerOptions, type TestUser } from '../../testing/index.js'

async function started (t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer(options)
  t.teardown(() => server.dispose())
  return server
}

const definition = (group: string, extension: string): object => ({
  apiVersion: `apiextensions.${group}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'cars.shop.example', annotations: { 'controller-gen.kubebuilder.io/version': 'v0.16.0' } },
  spec: {
    group: 'shop.example',
    scope: 'Namespaced',
    names: { plural: 'cars', kind: 'Car' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', [extension]: true } } } }
      }
    ]
  }
})
const ingress = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'a' },
  spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } }
}

t.test('fixtures with unknown fields are refused with their paths', async t => {
  for (const [fixture, says] of [
    [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'a', image: 'a', comand: ['x'] }] }
      },
      /^fixture Pod a .*unknown field "spec\.containers\[0\]\.comand"/
    ],
    [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'a', image: 'a' }] },
        status: { fase: 'Running' }
      },
      /unknown field "status\.fase"/
    ],
    [
      { apiVersion: 'v1', kind: 'ConfgMap', metadata: { name: 'a' } },
      /^fixture ConfgMap a .*: the server has no kind ConfgMap in v1; did you mean ConfigMap\?$/
    ],
    [
      definition('orch.io', 'x-kubernetes-preserve-unknown-fields'),
      /unknown field "spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\[?\.?spec\]?\.x-kubernetes-preserve-unknown-fields"/
    ]
  ] as const) await t.rejects(testServer({ fixtures: fixture }), { message: says })
})

t.test('with public names fixtures have either; without them an error says so', async t => {
  const server = await started(t, {
    server: { compatNames: true },
    fixtures: [
      definition('k8s.io', 'x-kubernetes-preserve-unknown-fields'), ingress,
      { ...ingress, apiVersion: 'networking.orch.io/v1', metadata: { name: 'b' } },
      { apiVersion: 'shop.example/v1', kind: 'Car', metadata: { name: 'fast' }, spec: { anything: { goes: 1 } } }
    ]
  })
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const read = async (path: string): Promise<any> => await (await fetch(server.url + path)).json()
  t.strictSame(
    (await read('/apis/networking.k8s.io/v1/ingresses'))['items'].map(
      ({ metadata: { name } }: { metadata: { name: string } }) => name
    ),
    ['a', 'b']
  )
  t.strictSame((await read('/apis/shop.example/v1/namespaces/default/cars/fast'))['spec'], { anything: { goes: 1 } })
  t.match(
    server.exchanges.find({ group: 'networking.k8s.io' }), [{ resource: 'ingresses' }],
    'a pattern with the public name of a group'
  )
  t.equal(server.exchanges.find({ group: 'networking.orch.io' }).length, 1)
  await t.rejects(
    testServer({ fixtures: ingress }),
    {
      message:
        /^fixture Ingress a .*: the server has no kind Ingress in networking\.k8s\.io\/v1; with --compat-names, or \{ server: \{ compatNames: true \} \}, it has/
    }
  )
})

t.test('unknown options are refused', async t => {
  await t.rejects(testServer({ fixture: [] } as TestServerOptions), {
    name: 'OptionError', message: /^fixture: there is no such member; there are fixtures, .*; did you mean fixtures\?$/
  })
  await t.rejects(testServer({ now: new Date(NaN) }), { name: 'OptionError', message: /^now: must be a valid Date/ })
  await t.rejects(testServer({ server: { compatName: true } as object }), {
    name: 'OptionError', message: /compatName/
  })
})

t.test('patterns with unknown members, verbs and resources are refused', async t => {
  const server = await started(t, { fixtures: [definition('orch.io', 'x-orch-preserve-unknown-fields')] })
  for (const [on, says] of [
    [{ verb: 'updat' }, /^on\.verb: "updat": must be one of get, .*; did you mean update\?$/],
    [{ method: 'POSt ' }, /^on\.method: /],
    [{ resource: 'pod' }, /^on\.resource: "pod": is no resource of this server.*; did you mean pods\?$/],
    [{ resource: 'car/status' }, /did you mean cars\?/],
    [{ group: 'app', resource: 'deployments' }, /^on\.group: "app": is no group of this server; did you mean apps\?$/],
    [{ resources: 'pods' }, /^on\.resources: there is no such member; .*; did you mean resource\?$/]
  ] as ReadonlyArray<readonly [object, RegExp]>) {
    t.throws(() => server.faults.add({ on, status: 500 }), { name: 'OptionError', message: says }, JSON.stringify(on))
    await t.rejects(
      testServer({
        faults: [{ on, status: 500 }], fixtures: [definition('orch.io', 'x-orch-preserve-unknown-fields')]
      }),
      { message: says }
    )
  }
  t.doesNotThrow(() => server.faults.add({ on: { verb: 'patch', resource: 'cars/status' }, status: 500 }))
  t.throws(
    () => server.faults.dropWatches({ resource: 'pod' }),
    { message: /^match\.resource: "pod": .*; did you mean pods\?$/ }
  )
  t.throws(() => server.faults.dropWatches({ resorce: 'pods' } as object), { message: /match\.resorce/ })
  t.throws(() => server.exchanges.find({ verb: 'updat' }), { message: /match\.verb/ })
  t.throws(() => server.exchanges.find({ statu: 200 } as object), { message: /did you mean status\?/ })
})

t.test('a pattern that names a resource by its kind would match nothing, and is refused', async t => {
  const { exchanges } = await started(t)
  for (const resource of ['pod', 'Pod', 'po', 'pod/status']) {
    t.throws(
      () => exchanges.find({ resource }),
      { name: 'OptionError', message: /^match\.resource: "\w+(?:\/status)?": .*; did you mean pods\?$/ }, resource
    )
    await t.rejects(exchanges.next({ resource }), { name: 'OptionError' }, resource)
  }
  t.strictSame(exchanges.find({ resource: 'pods/status' }), [])
  t.strictSame(exchanges.find({ resource: 'cars' }), [], 'one that is not there yet')
})

t.test('faults, waits and users with unknown members are refused, as they would not do what is meant', async t => {
  const { faults, exchanges } = await started(t)
  for (const [fault, says] of [
    [
      { status: 500, time: 1 }, /^time: there is no such member; .*; did you mean times\?$/
    ], [{ statuss: 500 }, /^statuss: .*; did you mean status\?$/],
    [
      { status: 500, times: '2' }, /^times: "2": must be a number of requests$/
    ], [{ status: 500, skip: -1 }, /^skip: -1: /],
    [{ status: 500, probability: 50 }, /^probability: 50: must be a number from 0 to 1$/]
  ] as ReadonlyArray<readonly [object, RegExp]>) {
    t.throws(
      () => faults.add(fault), { name: 'OptionError', message: says }
    )
  }
  await t.rejects(
    exchanges.next({}, { timeout: 10 } as object),
    { name: 'OptionError', message: /^timeout: there is no such member; there are within$/ }
  )
})

t.test('a user with unknown members is refused', async t => {
  const server = await started(t)
  t.throws(
    () => server.kubeconfig({ usrname: 'ann' } as object as TestUser),
    { name: 'OptionError', message: /^user\.usrname: .*; did you mean username\?$/ }
  )
  t.throws(
    () => server.clientConfig({ username: 'ann', group: ['team'] } as object as TestUser),
    { message: /^user\.group: .*; did you mean groups\?$/ }
  )
  await t.rejects(testServer({ user: { usrname: 'ann' } as object as TestUser }), { message: /^user\.usrname: / })
  t.throws(() => server.token({} as TestUser), { message: /^user\.username: / })
})

t.test('an exchange that does not come is an error that lists what came', async t => {
  const server = await started(t)
  await t.rejects(
    server.exchanges.next({ verb: 'create' }, { within: 10 }),
    { message: 'no exchange matched {"verb":"create"} within 10 ms; there were none at all' }
  )
  for (let at = 0; at < 12; at++) {
    await (await fetch(`${server.url}/api/v1/namespaces/default/configmaps/c${at}`)).text()
  }
  const missed = server.exchanges.next({ verb: 'create', url: /pods$/ }, { within: '20ms' })
  await t.rejects(missed, {
    message:
      /^no exchange matched \{"verb":"create","url":"\/pods\$\/"\} within 20 ms; there were, after 2 others:\n {2}GET \/api\/v1\/namespaces\/default\/configmaps\/c2 404 \(get configmaps, test-admin\)\n/
  })
  const coming = server.exchanges.next({ resource: 'secrets' }, { within: 10_000 })
  await (await fetch(`${server.url}/api/v1/secrets`)).text()
  t.match(await coming, { verb: 'list', status: 200 })
})

t.test('a server that was not disposed is named while nothing else keeps the process running', async t => {
  const entry = fileURLToPath(new URL('../../testing/index.js', import.meta.url))
  const child = spawn(
    process.execPath, ['--input-type=module', '-e', `const { testServer } = await import(${JSON.stringify(entry)})
async function forgetful () { await testServer() }
await forgetful()
const disposed = await testServer()
await disposed.dispose()`], { stdio: ['ignore', 'ignore', 'pipe'] }
  )
  t.teardown(() => { child.kill('SIGKILL') })
  let said = ''
  child.stderr.on('data', (text: Buffer) => { said += text.toString() })
  while (!said.includes('\n')) await once(child.stderr, 'data')
  t.match(
    said,
    /^orch-apiserver\/testing: only the test server started at forgetful \(.*\) keeps this process running; call its dispose\(\), or declare it with `await using`\n$/
  )
})
