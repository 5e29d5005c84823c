/**
 * Where webhooks are found, with which credentials they are called, and over which connections. Interface:
 * --proxy-client-cert-file, --enable-aggregator-routing.
 */
import t from 'tap'
import { join } from 'node:path'
import { checkedFlags, configuration } from '../../../config/options.js'
import type { AdmissionPlugin, AdmissionReader } from '../../../registry/admission.js'
import { readyEndpoints } from '../../../admission/webhooks/ready-endpoints.js'
import { serviceAddress } from '../../../admission/webhooks/service-address.js'
import { build, type Json } from '../../build.js'
import {
  caBundle, clientPair, configure, CONFIGS, deny, hookServer, MUTATING, patching, VALIDATING, webhook
} from './hook-server.js'

t.test(
  'a hook behind a service is called at its cluster address, and its certificate is for the name of the service',
  async t => {
    const hook = await hookServer(t)
    const server = await build(t)
    const service = (name: string, spec: Json): Promise<Json> => server.post(
      '/api/v1/namespaces/default/services', { metadata: { name }, spec: { ports: [{ port: hook.port }], ...spec } }
    )
    await service('hook', { clusterIP: '127.0.0.1' })
    await service('other', { clusterIP: '127.0.0.1' })
    await service('headless', { clusterIP: 'None' })
    await service('elsewhere', { type: 'ExternalName', externalName: 'localhost', ports: [] })
    const refused = async (name: string, port = hook.port): Promise<string> => {
      await configure(server, VALIDATING, 'a', webhook('a', hook, {
        clientConfig: { caBundle, service: { namespace: 'default', name, port, path: '/admit' } }
      }))
      const { code, json } = await server.post(CONFIGS, { metadata: { generateName: 'c-' } })
      await server.delete(`${VALIDATING}/a`)
      return code === 201 ? 'admitted' : json.message
    }
    t.equal(await refused('hook'), 'admitted')
    t.match(hook.asked[0], { path: '/admit?timeout=10s', headers: { host: `hook.default.svc:${hook.port}` } })
    t.match(
      await refused('other'),
      /failed to call webhook: Post "https:\/\/other\.default\.svc:\d+\/admit\?timeout=10s": Hostname\/IP does not match certificate's altnames/
    )
    t.match(
      await refused('none'),
      new RegExp(`Post "https://none\\.default\\.svc:${hook.port}/admit\\?timeout=10s": services "none" not found$`)
    )
    t.match(
      await refused('hook', 443),
      /Post "https:\/\/hook\.default\.svc:443\/admit\?timeout=10s": no service port 443 found for service "hook"$/
    )
    t.match(await refused('headless'), /cannot route to service with ClusterIP "None"$/)
    t.match(
      await refused('elsewhere'), /Hostname\/IP does not match certificate's altnames/,
      'the name of the service counts there, too'
    )
    t.equal(hook.asked.length, 1)
  }
)

t.test('with --enable-aggregator-routing it is one of the endpoints of the service that are ready', async t => {
  const objects: Record<string, Json> = {
    'services/hook': {
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.0.0.1',
        ports: [{ name: 'web', port: 443, targetPort: 8443 }, { name: 'metrics', port: 80 }]
      }
    },
    'services/named': { spec: { type: 'ExternalName', externalName: 'a.example' } },
    'services/idle': { spec: { type: 'ClusterIP', ports: [{ port: 443 }] } },
    'services/new': { spec: { type: 'ClusterIP', ports: [{ port: 443 }] } },
    'endpoints/hook': {
      subsets: [
        { notReadyAddresses: [{ ip: '10.1.0.9' }], ports: [{ name: 'web', port: 8443 }] },
        { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'metrics', port: 9090 }, { name: 'web', port: 8443 }] }
      ]
    },
    'endpoints/idle': { subsets: [{ notReadyAddresses: [{ ip: '10.1.0.9' }], ports: [{ port: 8443 }] }] }
  }
  const reader = {
    get: async (_group: string, resource: string, _namespace: string, name: string) => objects[`${resource}/${name}`]
  } as unknown as AdmissionReader
  const find = async (name: string, port = 443) =>
    await serviceAddress(reader, { namespace: 'default', name, port }, readyEndpoints(reader, false))
  t.same(await find('hook'), { host: '10.1.0.1', port: 8443 })
  t.same(await find('hook', 80), { host: '10.1.0.1', port: 9090 })
  await t.rejects(find('hook', 81), { message: 'no service port 81 found for service "hook"' })
  await t.rejects(find('idle'), { message: 'no endpoints available for service "idle"' })
  await t.rejects(find('new'), { message: 'no endpoints available for service "new"' })
  await t.rejects(find('named'), { message: 'unsupported service type "ExternalName"' })
})

t.test('under 1.36 its endpoints are those of its slices, ' +
  'of the first family of the service if there are any', async t => {
  const readers: AdmissionReader[] = []
  const asks: AdmissionPlugin = {
    name: 'asks',
    handles: [{ operations: ['CREATE'], groups: [''], resources: ['services'] }],
    validate: ({ reader }) => { readers.push(reader) }
  }
  const server = await build(t, { emulatedVersion: '1.36', admission: { plugins: [asks] } })
  const slice = async (
    name: string, addressType: string, addresses: string[], ports: Json[], of = 'hook'
  ): Promise<Json> => await server.post('/apis/discovery.orch.io/v1/namespaces/default/endpointslices', {
    metadata: { name, labels: { 'orch.io/service-name': of } }, addressType, ports,
    endpoints: addresses.map((address, index) => ({ addresses: [address], conditions: { ready: index === 0 } }))
  })
  await server.post('/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: {
      ipFamilies: ['IPv4'],
      ports: [{ name: 'web', port: 443 }, { name: 'metrics', port: 80 }, { name: 'late', port: 81 }]
    }
  })
  await slice('a', 'IPv6', ['2001:db8::1'], [{ name: 'web', port: 8443 }, { name: 'metrics', port: 9090 }])
  await slice('b', 'IPv4', ['192.0.2.1', '192.0.2.2'], [{ name: 'web', port: 8443 }])
  await slice('c', 'IPv4', ['192.0.2.3'], [{ name: 'web', port: 8443 }], 'other')
  const reader = readers[0] as AdmissionReader // the service was admitted
  const find = async (port: number): Promise<unknown> =>
    await serviceAddress(reader, { namespace: 'default', name: 'hook', port }, readyEndpoints(reader, true))
  for (let tries = 0; tries < 20; tries++) t.same(await find(443), { host: '192.0.2.1', port: 8443 })
  t.same(await find(80), { host: '2001:db8::1', port: 9090 })
  await t.rejects(find(81), { message: 'no endpoints available for service "hook"' })
})

const KUBECONFIG = (port: number): string => JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: '', user: 'current' } }],
  users: [
    { name: `127.0.0.1:${port}`, user: { token: 'of-host-and-port' } },
    { name: `*.default.svc:${port}`, user: { username: 'ann', password: 'pw' } },
    { name: 'current', user: { token: 'of-context' } }
  ]
})

t.test(
  'webhooks are called with the credentials of the kubeconfig, or else with the certificate of the server', async t => {
    const [hook, other] = [await hookServer(t), await hookServer(t)]
    const folder = t.testdir({
      'proxy.crt': clientPair.certificate, 'proxy.key': clientPair.key, kubeconfig: KUBECONFIG(hook.port)
    })
    const flags = [
      `--data-dir=${folder}`, `--proxy-client-cert-file=${join(folder, 'proxy.crt')}`,
      `--proxy-client-key-file=${join(folder, 'proxy.key')}`
    ]
    const { options: { outbound } } = await configuration(checkedFlags(flags))
    t.match(outbound, { toEndpoints: false, client: { certificate: { path: join(folder, 'proxy.crt') } } })
    const value = {
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'WebhookAdmissionConfiguration',
      kubeConfigFile: join(folder, 'kubeconfig')
    }
    const server = await build(t, {
      outbound: outbound ?? {}, admission: { configuration: { MutatingAdmissionWebhook: { value } } }
    })
    await server.post('/api/v1/namespaces/default/services', {
      metadata: { name: 'hook' }, spec: { clusterIP: '127.0.0.1', ports: [{ port: hook.port }] }
    })
    await configure(server, MUTATING, 'a', webhook('a', hook), webhook('b', other), webhook('c', hook, {
      clientConfig: { caBundle, service: { namespace: 'default', name: 'hook', port: hook.port } }
    }))
    await configure(server, VALIDATING, 'd', webhook('d', hook))
    t.equal((await server.post(CONFIGS, { metadata: { name: 'c' } })).code, 201)
    t.match(hook.asked, [
      { headers: { authorization: 'Bearer of-host-and-port' }, caller: 'undefined' },
      { headers: { authorization: `Basic ${Buffer.from('ann:pw').toString('base64')}` }, path: '/?timeout=10s' },
      { headers: { authorization: undefined }, caller: 'apiserver' }
    ], 'the other plugin has no kubeconfig')
    t.match(other.asked, [{ headers: { authorization: 'Bearer of-context' } }])
  }
)

t.test('an unusable kubeconfig or certificate ends the start, naming the flag and the plugin', async t => {
  const folder = t.testdir({
    bad: 'users: 3',
    unsupported: JSON.stringify({ users: [{ name: 'a', user: { exec: {} } }] }),
    'a.crt': clientPair.certificate,
    'b.key': 'none'
  })
  const started = async (kind: string, kubeConfigFile: string): Promise<unknown> => {
    const file = {
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        {
          name: 'ValidatingAdmissionWebhook',
          configuration: {
            apiVersion: kind === 'WebhookAdmission'
              ? 'apiserver.config.orch.io/v1alpha1'
              : 'apiserver.config.orch.io/v1',
            kind,
            kubeConfigFile
          }
        }
      ]
    }
    const path = join(t.testdirName, 'admission.json')
    await import('node:fs').then(({ writeFileSync }) => { writeFileSync(path, JSON.stringify(file)) })
    return await configuration(checkedFlags([`--data-dir=${folder}`, `--admission-control-config-file=${path}`]))
  }
  const refused = (kubeconfig: string, message: RegExp, kind = 'WebhookAdmissionConfiguration') =>
    t.rejects(started(kind, kubeconfig), { name: 'FlagError', message }, String(message))
  await refused(
    'relative',
    /--admission-control-config-file=.*ValidatingAdmissionWebhook.*kubeConfigFile: .*must be an absolute file path/
  )
  await refused('', /kubeConfigFile/)
  await refused(join(folder, 'none'), /ValidatingAdmissionWebhook.*none cannot be read: there is no such file/)
  await refused(join(folder, 'bad'), /users is not a list/)
  await refused(join(folder, 'unsupported'), /exec of user "a" is not supported/, 'WebhookAdmission')
  await refused(join(folder, 'bad'), /it is Nope of/, 'Nope')
  await t.rejects(
    configuration(checkedFlags([
      `--data-dir=${folder}`, `--proxy-client-cert-file=${join(folder, 'a.crt')}`,
      `--proxy-client-key-file=${join(folder, 'b.key')}`
    ])),
    { message: /--proxy-client-key-file/ }
  )
})

t.test(
  'connections are kept for a hook and shared by those of the same place, and end with its configuration', async t => {
    const hook = await hookServer(t)
    const server = await build(t)
    await configure(
      server, VALIDATING, 'a', webhook('a', hook, { timeoutSeconds: 3 }),
      webhook('b', hook, { namespaceSelector: { matchLabels: { none: 'of-these' } } })
    )
    for (let at = 0; at < 20; at++) await server.post(CONFIGS, { metadata: { name: `c-${at}` } })
    t.equal(hook.asked.length, 20)
    t.equal(hook.connections(), 1)
    hook.answer = deny()
    await server.patch(`${VALIDATING}/a`, { webhooks: [webhook('a', hook, { timeoutSeconds: 5 })] })
    t.equal((await server.post(CONFIGS, { metadata: { name: 'd' } })).code, 400)
    t.equal(hook.connections(), 1, 'the connection is kept if the client configuration is unchanged')
  }
)

t.test('a kept connection that is closed during its next use costs no request', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook))
  t.equal((await server.post(CONFIGS, { metadata: { name: 'a' } })).code, 201)
  let first = true
  hook.answer = (...review) => {
    if (!first) return { allowed: true }
    first = false
    review[2].socket.destroy()
    return undefined
  }
  t.equal((await server.post(CONFIGS, { metadata: { name: 'b' } })).code, 201)
  t.equal(hook.asked.length, 3)
  const never = await hookServer(t, (...review) => {
    review[2].socket.destroy()
    return undefined
  })
  await configure(server, VALIDATING, 'b', webhook('b', never))
  t.equal((await server.post(CONFIGS, { metadata: { name: 'c' } })).code, 500, 'where none was kept it is a failure')
  t.equal(never.asked.length, 1)
})

t.test('a call in progress completes although its configuration is deleted', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook))
  hook.answer = async () => {
    await server.delete(`${VALIDATING}/a`)
    // Requests from now on find another set of hooks.
    await server.post(CONFIGS, { metadata: { name: 'beside' } })
    return { allowed: false, status: { message: 'still here', code: 403 } }
  }
  t.match(await server.post(CONFIGS, { metadata: { name: 'c' } }), { code: 403, json: { message: /still here$/ } })
})

t.test('the path of a webhook URL is normalized as upstream does, in calls and in messages', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  const base = `https://127.0.0.1:${hook.port}`
  for (const [path, called] of [['', '/'], ['/', '/'], ['/a', '/a'], ['/a/b/', '/a/b']] as const) {
    await configure(server, VALIDATING, 'a', webhook('a', { url: `${base}${path}` }))
    hook.answer = (_review, reply) => { reply.destroy(); return undefined }
    const { json } = await server.post(CONFIGS, { metadata: { name: 'c' } })
    t.equal(hook.asked.at(-1)?.path, `${called}?timeout=10s`)
    t.match(json.message, `Post "${base}${called}?timeout=10s": `)
    await server.delete(`${VALIDATING}/a`)
  }
})

t.test('after a conflict the webhook is called again with the current object', async t => {
  const hook = await hookServer(t)
  const server = await build(t)
  await server.post(CONFIGS, { metadata: { name: 'c' }, data: { n: '0' } })
  await configure(
    server,
    MUTATING,
    'a',
    webhook('a', hook, {
      rules: [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
    })
  )
  hook.answer = async (review, ...rest) => {
    // Another client changes the object during the first review.
    if (hook.asked.length === 1) t.equal((await server.patch(`${CONFIGS}/c`, { data: { other: 'yes' } })).code, 200)
    return await patching({
      op: 'add', path: '/data/seen', value: JSON.stringify(review.request.oldObject.data)
    })(review, ...rest)
  }
  t.match(await server.patch(`${CONFIGS}/c`, { data: { n: '1' } }), {
    code: 200, json: { data: { n: '1', other: 'yes' } }
  })
  t.match(hook.asked.map(({ request }) => request.oldObject.data), [{ n: '0' }, { n: '0' }, { n: '0', other: 'yes' }])
  const { metadata, ...rest } = (await server.get(`${CONFIGS}/c`)).json
  t.equal(rest.data.seen, JSON.stringify(hook.asked[2]?.request.oldObject.data))
  t.equal(hook.asked[2]?.request.oldObject.metadata.uid, metadata.uid)
})
