/** A host that mistypes an option: the registration fails with one sentence, and nothing has been opened. */
import t from 'tap'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Fastify from '../fastify.js'
import orch, { type ServerOptions } from '../../app.js'
import { Authorities } from '../../auth/authorities.js'
import { checkOptions } from '../../config/checks/index.js'
import { parseArguments } from '../../config/command-line.js'
import { openBackend } from '../../storage/open.js'

/** The server's complaint about options, which may be of any type. */
function complaint (options: unknown): string {
  try {
    checkOptions(options)
    return ''
  } catch (error) {
    return error instanceof TypeError ? error.message : `no TypeError: ${String(error)}`
  }
}

const POLICY = { apiVersion: 'audit.orch.io/v1', kind: 'Policy' }

const WRONG: ReadonlyArray<readonly [options: unknown, says: string | RegExp]> = [
  [
    { storage: { kind: 'memry' } },
    'storage.kind: "memry": must be one of memory, embedded, shared, etcd; did you mean memory?'
  ],
  [{ storage: { prefx: '/x' } }, 'storage.prefx: is no option; did you mean prefix?'],
  [
    { storage: { directory: 'data' } },
    'storage.directory: is no option of memory, the default kind; it is one of kind embedded'
  ],
  [{ storage: { kind: 'embedded' } }, 'storage.directory: needs a value'],
  [
    { storage: { kind: 'embedded', directory: 'x', historyRetention: { milliseconds: 1000, bytes: 2 ** 20 } } },
    'storage.historyRetention: must have either milliseconds or bytes'
  ],
  [
    { storage: { kind: 'embedded', directory: 'x', historyRetention: { bytes: 5 } } },
    /^storage\.historyRetention\.bytes: 5: must be at least 1048576/
  ],
  [{ storage: 'memory' }, 'storage: a string: must be an object'],
  [{ storage: [] }, 'storage: a list: must be an object'],
  [{ storage: new Map() }, 'storage: a Map: must be an object'],
  [{ storage: null }, 'storage: null: must be an object'],
  [null, 'options: null: must be an object'],
  [{ sorage: {} }, 'sorage: is no option; did you mean storage?'],
  [{ kind: 'memory' }, /^kind: is no option; the options here are storage, watchCache, /],
  [{ limits: { requestTimeout: '1m' } }, 'limits.requestTimeout: "1m": must be a duration in milliseconds'],
  [{ limits: { requestTimeout: NaN } }, 'limits.requestTimeout: NaN: must be a duration in milliseconds'],
  [{ limits: { maxRequestsInflight: 1.5 } }, 'limits.maxRequestsInflight: 1.5: must be a whole number'],
  [{ allowPrivileged: 'yes' }, 'allowPrivileged: "yes": must be true or false'],
  [{ compatNames: 'yes' }, 'compatNames: "yes": must be true or false'],
  [{ audit: { version: 'audit.k8s.io/v1' } }, 'audit.version: audit.k8s.io/v1: needs compatNames beside it'],
  [
    {
      audit: {
        webhook: {
          endpoint: { server: new URL('https://a'), insecure: false, credentials: {} }, version: 'audit.k8s.io/v1'
        }
      }
    },
    'audit.webhook.version: audit.k8s.io/v1: needs compatNames beside it'
  ],
  [{ authorization: { modes: 'RBAC' } }, 'authorization.modes: a string: must be a list'],
  [
    { authorization: { modes: ['Node', 'RABC'] } },
    'authorization.modes[1]: "RABC": must be one of AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node; ' +
    'did you mean RBAC?'
  ],
  [
    { admission: { enabled: ['NodeRestrction'] } },
    /^admission\.enabled\[0\]: "NodeRestrction": is not an admission plugin; .*; did you mean NodeRestriction\?$/
  ],
  [
    { admission: { configuration: { PodSecurty: { value: {} } } } },
    /^admission\.configuration\.PodSecurty: is not an admission plugin; .*; did you mean PodSecurity\?$/
  ],
  [
    { featureGates: { APIServerTracin: true } },
    'featureGates.APIServerTracin: "APIServerTracin" is not a feature gate of release 1.24 or 1.36; leave it out; ' +
    'did you mean APIServerTracing?'
  ],
  [{ collectGarbage: 'yes' }, 'collectGarbage: "yes": must be true or false'],
  [
    { collectGarbage: true, storage: { garbageCollection: false } },
    'collectGarbage: true: needs storage.garbageCollection, without which no deletion waits for a collector'
  ],
  [{ featureGates: { APIServerTracing: 'true' } }, 'featureGates.APIServerTracing: "true": must be true or false'],
  [{ api: { disabled: ['apps/v2'] } }, /^api\.disabled\[0\]: "apps\/v2": is no API version of this server; /],
  [{ watchCache: { encodedObjects: { share: 2 } } }, /^watchCache\.encodedObjects\.share: .*must be between 0 and 1/],
  [
    { watchCache: { encodedObjects: { bytes: 1, share: 1 } } },
    'watchCache.encodedObjects: must have either bytes or share'
  ],
  [
    { watchCache: { sizes: { '/configmap': 5 } } },
    'watchCache.sizes["/configmap"]: is no resource of this version; did you mean /configmaps?'
  ],
  [
    { watchCache: { sizes: { 'apps/configmaps': 5 } } },
    /^watchCache\.sizes\["apps\/configmaps"\]: is no resource of this version/
  ],
  [
    { services: { clusterIPRanges: ['10.0.0.0/33'] } },
    'services.clusterIPRanges: a list: "10.0.0.0/33" must be a CIDR such as 10.0.0.0/24 or fd00::/108'
  ],
  [
    { authentication: { authenticators: [{ name: 'mine' }] } },
    'authentication.authenticators[0]: an object: must be an object with the method authenticate'
  ],
  [{ storage: { watch: 'x' } }, /^storage\.watch: is no option/],
  [JSON.parse('{"__proto__": {"storage": {}}}'), /^__proto__: is no option; /],
  [JSON.parse('{"limits": {"constructor": 1}}'), /^limits\.constructor: is no option; /],
  [
    { audit: { path: '-', policy: { rules: 'x' } } },
    /^audit\.policy: it needs kind and apiVersion: Policy of audit\.orch\.io\/v1$/
  ],
  [{ audit: { path: '-', policy: { ...POLICY, rules: 'x' } } }, /^audit\.policy: .*rules/],
  [
    { audit: { path: '-', policy: { ...POLICY, rules: [{ level: 'Bogus' }] } } },
    /^audit\.policy: rules\[0\]\.level: Unsupported value: "Bogus"/
  ],
  [
    { audit: { path: '-', policy: { ...POLICY, rules: [{ level: 'None', verb: ['get'] }] } } },
    'audit.policy: unknown field "rules[0].verb"'
  ],
  [{ authorization: { modes: ['ABAC'], policies: '{"kind":"Policy"}\n{' } }, /^authorization\.policies: line 1 /],
  [{ authentication: { tokens: 'secret-token,' } }, /^authentication\.tokens: line 1/],
  [
    { authentication: { clientAuthorities: 'secret-text' } },
    'authentication.clientAuthorities: it has no CERTIFICATE block in PEM'
  ],
  [
    { authentication: { clientAuthorities: 5 } },
    'authentication.clientAuthorities: a number: must be an object with the method onChange'
  ],
  [
    { authentication: { serviceAccounts: { signingKey: 'secret-text' } } },
    'authentication.serviceAccounts.signingKey: it has no private key in PEM'
  ],
  [
    { authentication: { serviceAccounts: { verificationKeys: ['secret-text'] } } },
    'authentication.serviceAccounts.verificationKeys[0]: it has no RSA or ECDSA key in PEM'
  ],
  [{ rootCA: { certificates: 'secret-text' } }, 'rootCA.certificates: it has no CERTIFICATE block in PEM'],
  [
    { outbound: { client: { certificate: { data: 'secret-text' }, key: { path: 'x' } } } },
    'outbound.client.certificate.data: it has no CERTIFICATE block in PEM'
  ],
  [
    { outbound: { client: { certificate: { path: 'x' }, key: { data: 'secret-text' } } } },
    'outbound.client.key.data: it has no private key in PEM'
  ],
  [
    { storage: { kind: 'etcd', servers: ['http://127.0.0.1:2379'], ca: Buffer.from('secret-text') } },
    'storage.ca: it has no CERTIFICATE block in PEM'
  ],
  [
    { tracing: { receiver: { endpoint: 'http://collector:4317' } } },
    'tracing.receiver.endpoint: "http://collector:4317": must have a host and a port: HOST:PORT'
  ],
  [
    { tracing: { receiver: { endpoint: 'dns:///collector:4317' } } },
    'tracing.receiver.endpoint: "dns:///collector:4317": must be in the form "collector:4317"'
  ],
  [
    { api: { advertiseAddress: 'https://10.0.0.1' } },
    'api.advertiseAddress: "https://10.0.0.1": must be a host name, with a port if need be'
  ],
  [{ storage: { kind: 'embedded', directory: '' } }, 'storage.directory: "": must be a folder'],
  [
    { admission: { plugins: [{ name: 'Mine', handles: [], validates: () => {} }] } },
    'admission.plugins[0]: an object: must be an object with a name, handles (rules or a function), ' +
    'and the method mutate or validate'
  ],
  [
    { admission: { plugins: [{ name: 'Mine', validate: () => {} }] } },
    /^admission\.plugins\[0\]: an object: must be an object with a name, handles/
  ],
  [{ prefix: '/*' }, 'prefix: "/*": must be a path without wildcards'],
  [{ 'line\nbreak': 1 }, /^\["line\\nbreak"\]: is no option; /]
]

for (const [options, says] of WRONG) {
  t.test(`${String(says)}`, async t => {
    const said = complaint(options)
    if (typeof says === 'string') t.equal(said, says)
    else t.match(said, says)
    t.notMatch(said, /\n/)
  })
}

t.test('options are refused in the same words as the flags', async t => {
  const pairs: ReadonlyArray<readonly [flag: string, options: unknown]> = [
    ['--event-ttl=1ms', { storage: { eventTtl: 1 } }],
    ['--etcd-prefix=x', { storage: { prefix: 'x' } }],
    ['--max-requests-inflight=-1', { limits: { maxRequestsInflight: -1 } }],
    ['--endpoint-reconciler-type=leese', { orchService: { address: '10.0.0.1', port: 1, reconciler: 'leese' } }],
    ['--shutdown-delay-duration=-5s', { shutdown: { delay: -5000 } }]
  ]
  for (const [flag, options] of pairs) {
    let words = ''
    try {
      parseArguments([flag])
    } catch (error) {
      words = /=.*?: (.*)$/.exec((error as Error).message)?.[1] ?? ''
    }
    t.not(words, '', flag)
    t.ok(complaint(options).endsWith(`: ${words}`), `${complaint(options)} has the words of ${flag}: ${words}`)
  }
})

t.test('errors contain no secrets, and long or unprintable values are truncated and escaped', async t => {
  const secret = 'hunter2'
  for (const options of [
    { authentication: { token: secret } },
    { authentication: { tokens: { [secret]: secret } } },
    { authentication: { serviceAccounts: { verificationKeys: secret } } },
    { authorization: { webhook: `https://me:${secret}@host` } },
    { storage: { kind: 'etcd', servers: [`https://me:${secret}@host`] } },
    { outbound: { client: { certificate: secret, key: secret } } }
  ]) {
    t.not(complaint(options), '')
    t.notMatch(complaint(options), secret)
  }
  const long = complaint({ admission: { disabled: [`\u001b[31m${'x'.repeat(100_000)}`] } })
  t.match(long, '\\u001b[31mxxx')
  t.ok(long.length < 3000, `${long.length}`)
})

t.test('instances, inherited options, Fastify\'s own options and empty options are accepted', async t => {
  const backend = await openBackend({ kind: 'memory' })
  t.teardown(() => backend.close())
  class Mine { readonly name = 'mine'; authenticate (): undefined { return undefined } }
  const rights = { prefix: '/x', logLevel: 'warn', logSerializers: {} }
  const valid: ServerOptions[] = [
    {},
    { ...rights, storage: {} },
    { storage: backend },
    { storage: Object.assign(Object.create(backend) as typeof backend, { prefix: '/mine' }) },
    { authentication: { authenticators: [new Mine()], clientAuthorities: new Authorities('') } },
    Object.create({ storage: { kind: 'memory' } }) as ServerOptions,
    { limits: { requestTimeout: 0 }, metrics: { allowedLabels: new Map([['apiserver_request_total,verb', ['GET']]]) } },
    { connections: { nodeAgents: undefined } }
  ]
  for (const [at, options] of valid.entries()) t.equal(complaint(options), '', `${at}`)
  t.match(complaint(Object.create({ storage: { kind: 'memry' } })), 'storage.kind: "memry"')
  t.match(
    complaint({ storage: Object.assign(Object.create(backend) as typeof backend, { eventTtl: -1 }) }),
    'storage.eventTtl: -1'
  )
})

t.test('the registration is rejected, and no store is opened', async t => {
  const directory = join(t.testdir(), 'data')
  const app = Fastify()
  t.teardown(() => app.close())
  // untyped, as in JavaScript
  const options = { storage: { kind: 'embedded', directory }, shutdown: { deley: 5 } } as unknown as ServerOptions
  await t.rejects(Promise.resolve(app.register(orch, options)), {
    name: 'OptionError', message: 'shutdown.deley: is no option; did you mean delay?'
  })
  t.notOk(existsSync(directory))
})

t.test('the compiler checks the options of a registration, as those of a variable', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  // @ts-expect-error -- no such kind
  await t.rejects(Promise.resolve(app.register(orch, { storage: { kind: 'memry' } })), {
    message: /^storage\.kind: "memry": /
  })
  const other = Fastify()
  t.teardown(() => other.close())
  // @ts-expect-error -- no such option
  await t.rejects(Promise.resolve(other.register(orch, { sorage: { kind: 'memory' } })), { message: /^sorage: / })
  const served = Fastify()
  t.teardown(() => served.close())
  await served.register(orch, { prefix: '/cluster', storage: { kind: 'memory' } })
})
