/** `--egress-selector-config-file`: destinations of the server through each kind of proxy. */
import t, { type Test } from 'tap'
import { writeFileSync } from 'node:fs'
import Fastify from '../../fastify.js'
import { server as orch, type ServerOptions } from '../../../app.js'
import { checkedFlags, configuration } from '../../../config/options.js'
import { caBundle, hookServer } from '../../admission/webhooks/hook-server.js'
import { client, type Client, type Json } from '../../build.js'
import { startEtcd } from '../../etcd-process.js'
import { until } from '../../interop/server.js'
import { echo, nodeAgent, PODS, withPod } from '../../node-agent.js'
import { receiver } from '../../otlp-receiver.js'
import { CA, kubeconfig, reviewer } from '../../reviewer.js'
import { PROXIES, type Proxy } from './proxies.js'

const VERSIONS = ['v1beta1', 'v1alpha1'] as const
const NOWHERE = 'agent.only-there.example'

type Selections = Readonly<Record<string, Proxy | 'Direct'>>

function configFile (folder: string, selections: Selections, version: string = VERSIONS[0]): string {
  const path = `${folder}/egress.yaml`
  const egressSelections = Object.entries(selections).map(([name, proxy]) => ({
    name, connection: proxy === 'Direct' ? { proxyProtocol: 'Direct' } : proxy.connection
  }))
  writeFileSync(path, JSON.stringify({
    apiVersion: `apiserver.orch.io/${version}`, kind: 'EgressSelectorConfiguration', egressSelections
  }))
  return path
}

interface Served extends Client { readonly url: string }

async function serve (
  t: Test, folder: string, selections: Selections, flags: readonly string[] = [], more: ServerOptions = {},
  version?: string
): Promise<Served> {
  const store = flags.some(flag => flag.startsWith('--etcd-servers=')) ? [] : [`--data-dir=${folder}/data`]
  const { options } = await configuration(checkedFlags([
    `--egress-selector-config-file=${configFile(folder, selections, version)}`, ...store, ...flags
  ]))
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(async scope => { await orch(scope, { ...options, ...more }) })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const made = client(app)
  await until('the server to be ready', async () => (await made.get('/readyz')).code === 200)
  return { ...made, url }
}

const HOOKS = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations'
const hook = (clientConfig: Json): Json => ({
  metadata: { name: 'hooks' },
  webhooks: [
    {
      name: 'h.example.com',
      clientConfig: { caBundle, ...clientConfig },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1']
    }
  ]
})

for (const [at, [title, make]] of Object.entries(PROXIES).entries()) {
  t.test(`${title}: the cluster`, async t => {
    const folder = t.testdir({})
    const proxy = await make(t)
    const long = 'three\n'.repeat(200_000)
    const agent = await nodeAgent(t, {
      request: ({ url = '' }, response) => { response.end(url.includes('tailLines') ? long : 'one\ntwo\n') },
      upgrade: echo
    }, '127.0.0.1')
    const server = await serve(
      t,
      folder,
      { cluster: proxy },
      agent.flags,
      {
        connections: {
          nodeAgents: {
            files: { certificate: agent.files.certificate, key: agent.files.key }, preferredAddressTypes: ['InternalIP']
          },
          nearby: true
        }
      },
      VERSIONS[at % 2]
    )
    await withPod(server, agent.port)
    t.match(await server.get(`${PODS}/web/log`), { code: 200, body: 'one\ntwo\n' })
    t.equal((await agent.next()).client, 'orch-apiserver', 'TLS is between the server and the node agent')
    const { body: log } = await server.get(`${PODS}/web/log?tailLines=200000`)
    t.ok(log === long, `all of a log whose end has arrived before it was read: ${log.length} bytes`)
    await agent.next()
    t.match(await server.get('/api/v1/nodes/n/proxy/metrics'), { code: 200, body: 'one\ntwo\n' })
    t.equal((await agent.next()).url, '/metrics')
    t.ok(
      proxy.asked.length >= 2 && proxy.asked.every(address => address === `127.0.0.1:${agent.port}`),
      proxy.asked.join(', ')
    )

    const hooks = await hookServer(t)
    proxy.names.set('10.0.0.77:443', hooks.port)
    await server.post('/api/v1/namespaces/default/services', {
      metadata: { name: 'hook' }, spec: { ports: [{ port: 443 }], clusterIP: '10.0.0.77' }
    })
    t.equal((await server.post(HOOKS, hook({ service: { name: 'hook', namespace: 'default' } }))).code, 201)
    await until('the webhook to be called', async () => {
      await server.post('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'c-' } })
      return hooks.asked.length > 0
    })
    t.ok(proxy.asked.includes('10.0.0.77:443'), 'a webhook behind a service is in the cluster')
    await server.delete(`${HOOKS}/hooks`)

    proxy.names.set(`${NOWHERE}:${agent.port}`, agent.port)
    await server.patch(
      '/api/v1/nodes/n/status', { status: { addresses: [{ type: 'InternalIP', address: NOWHERE }] } },
      'application/merge-patch+json'
    )
    t.match(await server.get('/api/v1/nodes/n/proxy/'), { code: 200 }, 'the proxy resolves names')

    proxy.refuse = true
    t.match(await server.get('/api/v1/nodes/n/proxy/'), {
      code: 503, json: { reason: 'ServiceUnavailable', message: /error trying to reach service: .*through the proxy/ }
    })
    t.match(await server.get(`${PODS}/web/log`), { code: 500, json: { message: /through the proxy/ } })
    proxy.stop()
    t.match(await server.get('/api/v1/nodes/n/proxy/'), {
      code: 503, json: { reason: 'ServiceUnavailable', message: /through the proxy/ }
    })
    const { body } = await server.get('/metrics')
    const kind = `protocol="${title.startsWith('gRPC') ? 'grpc' : 'http_connect'}"`
    const transport = `transport="${title.includes('socket') ? 'uds' : 'tcp'}"`
    t.match(body, new RegExp(`apiserver_egress_dialer_dial_duration_seconds_count\\{${kind},${transport}\\} [1-9]`))
    for (const stage of ['proxy', 'connect']) {
      t.match(
        body, new RegExp(`apiserver_egress_dialer_dial_failure_count\\{${kind},${transport},stage="${stage}"\\} [1-9]`)
      )
    }
  })

  t.test(`${title}: the control plane, by its old name too`, async t => {
    const proxy = await make(t)
    const review = await reviewer(t, ({ spec }) => ({
      authenticated: spec.token === 'known', user: { username: 'ann', groups: ['system:masters'] }
    }))
    const collected = await receiver(t)
    const folder = t.testdir({
      'ca.crt': CA,
      'webhook.yaml': kubeconfig(review.port),
      'tracing.yaml':
        'apiVersion: apiserver.config.orch.io/v1alpha1\nkind: TracingConfiguration\nendpoint: ' +
        `${collected.endpoint}\nsamplingRatePerMillion: 1000000\n`
    })
    const server = await serve(
      t,
      folder,
      { [at % 2 === 0 ? 'controlplane' : 'master']: proxy, cluster: 'Direct' },
      [
        `--authentication-token-webhook-config-file=${folder}/webhook.yaml`, '--feature-gates=APIServerTracing=true',
        `--tracing-config-file=${folder}/tracing.yaml`
      ]
    )
    t.equal((await server.get('/api/v1/namespaces', { authorization: 'Bearer known' })).code, 200)
    t.ok(proxy.asked.includes(`localhost:${review.port}`), 'tokens are reviewed')
    const hooks = await hookServer(t)
    await server.post(HOOKS, hook({ url: `https://localhost:${hooks.port}/` }))
    await until('the webhook to be called', async () => {
      await server.post('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'c-' } })
      return hooks.asked.length > 0
    })
    t.ok(proxy.asked.includes(`localhost:${hooks.port}`), 'a webhook at a URL is called')
    await until('spans to be sent', () => collected.spans.length > 0)
    t.ok(proxy.asked.includes(collected.endpoint), `spans are sent: ${proxy.asked.join(', ')}`)
  })

  t.test(`${title}: etcd`, async t => {
    const folder = t.testdir({})
    const proxy = await make(t)
    const etcd = await startEtcd(t)
    const server = await serve(t, folder, { etcd: proxy }, [`--etcd-servers=${etcd.url}`])
    t.equal((await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })).code, 201)
    t.equal(
      (await server.post('/api/v1/namespaces/default/events', {
        metadata: { name: 'e' }, involvedObject: { namespace: 'default' }
      })).code,
      201,
      'leases too'
    )
    t.match(await server.get('/api/v1/namespaces/default/configmaps'), {
      code: 200, json: { items: [{ metadata: { name: 'a' } }, ...[]] }
    })
    t.ok(proxy.asked.length > 0 && proxy.asked.every(address => address === etcd.url.replace('http://', '')))
    proxy.stop()
    t.match(
      await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'b' } }), { code: /50[034]/ }
    )
  })
}

const TCP = { tcp: { url: 'http://proxy:1' } }
for (const [title, selection, says] of [
  [
    'an unknown destination', { name: 'moon', connection: { proxyProtocol: 'Direct' } },
    /egressSelections\[0\]\.name: Unsupported value: "moon"/
  ],
  ['no protocol', { name: 'cluster', connection: {} }, /proxyProtocol: Unsupported value: ""/],
  [
    'an unknown protocol', { name: 'cluster', connection: { proxyProtocol: 'SOCKS' } },
    /proxyProtocol: Unsupported value: "SOCKS"/
  ],
  [
    'a direct connection with a transport',
    { name: 'cluster', connection: { proxyProtocol: 'Direct', transport: TCP } }, /transport: Forbidden/
  ],
  ['no transport', { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect' } }, /transport: Required value/],
  [
    'two transports',
    { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { ...TCP, uds: { udsName: '/s' } } } },
    /transport: Forbidden/
  ],
  [
    'gRPC over TCP', { name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: TCP } },
    /transport\.tcp: Forbidden/
  ],
  [
    'a socket without a path', { name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: { uds: {} } } },
    /udsName: Required value/
  ],
  [
    'a socket whose path the system would cut',
    { name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: `/${'s'.repeat(107)}` } } } },
    /udsName: Too long: must have at most 10\d bytes/
  ],
  [
    'another scheme',
    { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'socks://h:1' } } } },
    /tcp\.url: Invalid value/
  ],
  [
    'a password',
    {
      name: 'cluster',
      connection: { proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'http://me:hunter2@h:1' } } }
    },
    /must have no user and password/
  ],
  [
    'TLS over http',
    {
      name: 'cluster',
      connection: { proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'http://h:1', tlsConfig: {} } } }
    },
    /tlsConfig: Forbidden/
  ],
  [
    'https without TLS settings',
    { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'https://h:1' } } } },
    /tlsConfig: Required value/
  ],
  [
    'no client certificate',
    {
      name: 'cluster',
      connection: { proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'https://h:1', tlsConfig: {} } } }
    },
    /clientCert: Required value/
  ],
  [
    'a file that is not there',
    {
      name: 'cluster',
      connection: {
        proxyProtocol: 'HTTPConnect',
        transport: { tcp: { url: 'https://h:1', tlsConfig: { clientCert: '/nowhere.crt', clientKey: '/nowhere.key' } } }
      }
    },
    /tlsConfig\.clientCert: \/nowhere\.crt: there is no such file/
  ],
  [
    'an unknown field', { name: 'cluster', connection: { proxyProtocol: 'Direct' }, extra: 1 },
    /unknown field "egressSelections\[0\]\.extra"/
  ]
] as const) {
  t.test(`${title} ends the start with one line`, async t => {
    const path = `${t.testdir({})}/egress.json`
    writeFileSync(
      path,
      JSON.stringify({
        apiVersion: 'apiserver.orch.io/v1beta1', kind: 'EgressSelectorConfiguration', egressSelections: [selection]
      })
    )
    const refused = configuration(checkedFlags([`--egress-selector-config-file=${path}`]))
    await t.rejects(refused, { name: 'FlagError', message: says })
    const { message } = await refused.catch((error: unknown) => error as Error) as Error
    t.match(message, /^--egress-selector-config-file=/)
    t.notMatch(message, /\n|hunter2/)
  })
}

t.test('a destination twice, another kind, and a file that is not there', async t => {
  const path = `${t.testdir({})}/egress.json`
  const direct = { proxyProtocol: 'Direct' }
  for (const [document, says] of [
    [
      {
        apiVersion: 'apiserver.orch.io/v1beta1',
        kind: 'EgressSelectorConfiguration',
        egressSelections: [{ name: 'master', connection: direct }, { name: 'ControlPlane', connection: direct }]
      },
      /egressSelections\[1\]\.name: Duplicate value/
    ],
    [
      { apiVersion: 'apiserver.orch.io/v1', kind: 'EgressSelectorConfiguration', egressSelections: [] },
      /it is EgressSelectorConfiguration of apiserver\.orch\.io\/v1, not/
    ]
  ] as const) {
    writeFileSync(path, JSON.stringify(document))
    await t.rejects(configuration(checkedFlags([`--egress-selector-config-file=${path}`])), { message: says })
  }
  await t.rejects(configuration(checkedFlags([`--egress-selector-config-file=${path}.none`])), {
    message: /there is no such file/
  })
})
