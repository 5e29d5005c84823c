import t from 'tap'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { shownFlags } from '../../config/shown-flags.js'
import { hostPort } from '../../config/addresses.js'
import { checkedFlags, configuration } from '../../config/options.js'
import type { ServerOptions } from '../../config/server-options.js'
import { authority } from '../serving/authority.js'

const load = async (...args: string[]): Promise<ServerOptions> => (await configuration(checkedFlags(args))).options

/** Versions and resources that are off unless they are asked for, in the order of discovery. */
const OFF = [
  'networking.orch.io/v1beta1', 'admissionregistration.orch.io/v1beta1', 'resource.orch.io/v1beta2',
  'resource.orch.io/v1beta1', 'resource.orch.io/v1alpha3',
  'internal.apiserver.orch.io/v1alpha1', 'storagemigration.orch.io/v1beta1',
  'storage.orch.io/v1beta1/volumeattributesclasses'
]

t.test('without flags the options are the defaults of the interface', async t => {
  const data = `${t.testdir()}/data`
  t.match(await load(`--data-dir=${data}`), {
    storage: {
      kind: 'embedded',
      directory: data,
      minFree: 64 * 1024 * 1024,
      prefix: '/registry',
      mediaType: 'application/vnd.orch.protobuf',
      compactionInterval: 300_000,
      healthcheckTimeout: 2000,
      eventTtl: 3_600_000,
      leaseReuseSeconds: 60
    },
    watchCache: { size: 100, sizes: {}, encodedObjects: { share: 0.25 } },
    authentication: { anonymous: true, audiences: undefined, clientCertificates: undefined, tokens: undefined },
    authorization: { modes: ['AlwaysAllow'] },
    admission: { enabled: [], disabled: [] },
    audit: undefined,
    limits: {
      requestTimeout: 60_000,
      minRequestTimeoutSeconds: 1800,
      priorityAndFairness: true,
      maxRequestsInflight: 400,
      maxMutatingRequestsInflight: 200,
      deleteCollectionWorkers: 1
    },
    securityHeaders: { allowedOrigins: [], strictTransportSecurity: [] },
    api: { disabled: OFF, later: [], externalHostname: undefined },
    health: { livezGracePeriod: 0 },
    shutdown: { delay: 0, sendRetryAfter: false },
    metrics: { countInterval: 60_000, sizeInterval: 30_000, disabled: [] },
    featureGates: {}
  })
})

t.test('defaults that changed are those of the emulated release', async t => {
  const folder = t.testdir()
  const audit = async (...flags: string[]) =>
    (await load(`--data-dir=${folder}/data`, `--audit-log-path=${folder}/audit.log`, ...flags)).audit
  t.match(await audit(), { maxAgeDays: 0, maxBackups: 0, maxSizeMegabytes: 0 })
  t.match(await audit('--emulated-version=1.36'), { maxAgeDays: 366, maxBackups: 100, maxSizeMegabytes: 100 })
  t.match(
    await audit('--emulated-version=1.36', '--audit-log-maxage=0', '--audit-log-maxbackup=0', '--audit-log-maxsize=0'),
    { maxAgeDays: 0, maxBackups: 0, maxSizeMegabytes: 2 ** 30 }, 'and 0 means that it is not rotated'
  )
  const shown = (...flags: string[]) => shownFlags(checkedFlags([`--data-dir=${folder}/data`, ...flags]))
  t.match(shown(), { 'audit-log-maxage': '0', 'cloud-provider': '' })
  t.match(shown('--emulated-version=1.36'), { 'audit-log-maxage': '366' })
  t.notOk('cloud-provider' in shown('--emulated-version=1.36'))
})

t.test('flags and the files they name become options', async t => {
  const ca = authority()
  const client = ca.issue({ commonName: 'client', uses: ['client'] })
  const folder = t.testdir({
    ca: ca.certificate, crt: client.certificate, key: client.key, tokens: 'sesame,alice,1,"devs,ops"\n'
  })
  const options = await load(
    '--etcd-servers=https://a:2379,https://b:2379/',
    '--etcd-servers-overrides=/secrets#http://c:1;http://d:2,rbac.authorization.orch.io/roles#http://e:3',
    `--etcd-cafile=${folder}/ca`, `--etcd-certfile=${folder}/crt`, `--etcd-keyfile=${folder}/key`, '--etcd-prefix=/x',
    '--etcd-healthcheck-timeout=1s',
    `--token-auth-file=${folder}/tokens`, `--client-ca-file=${folder}/ca`, '--anonymous-auth=false',
    '--authorization-mode=AlwaysDeny,AlwaysAllow',
    `--audit-log-path=${folder}/audit.log`, '--audit-log-format=legacy', '--audit-log-maxsize=5',
    '--audit-log-maxbackup=2', '--audit-log-maxage=3', '--audit-log-compress',
    '--advertise-address=fd00::1', '--secure-port=7443', '--external-hostname=api.example.com',
    '--storage-media-type=application/json',
    '--runtime-config=rbac.authorization.orch.io/v1=false,/v1=true', '--disabled-metrics=a,b',
    '--allow-metric-labels=a_total,verb=GET,LIST,b,code="200"', '--request-timeout=30s', '--shutdown-send-retry-after',
    '--cors-allowed-origins=^https://x$', '--strict-transport-security-directives=max-age=1,preload'
  )
  t.match(options, {
    storage: {
      kind: 'etcd',
      servers: ['https://a:2379', 'https://b:2379'],
      ca: ca.certificate,
      certificate: client.certificate,
      key: client.key,
      overrides: { '/secrets': ['http://c:1', 'http://d:2'], 'rbac.authorization.orch.io/roles': ['http://e:3'] },
      prefix: '/x',
      mediaType: 'application/json',
      healthcheckTimeout: 1000
    },
    authentication: {
      anonymous: false, tokens: /sesame/, clientCertificates: true, clientAuthorities: { pem: ca.certificate }
    },
    authorization: { modes: ['AlwaysDeny', 'AlwaysAllow'] },
    audit: {
      path: `${folder}/audit.log`, format: 'legacy', maxSizeMegabytes: 5, maxBackups: 2, maxAgeDays: 3, compress: true
    },
    limits: { requestTimeout: 30_000 },
    securityHeaders: { allowedOrigins: ['^https://x$'], strictTransportSecurity: ['max-age=1', 'preload'] },
    api: {
      disabled: [OFF[0], 'rbac.authorization.orch.io/v1', ...OFF.slice(1)],
      advertiseAddress: '[fd00::1]:7443',
      externalHostname: 'api.example.com'
    },
    shutdown: { sendRetryAfter: true },
    metrics: { disabled: ['a', 'b'], allowedLabels: new Map([['a_total,verb', ['GET', 'LIST']], ['b,code', ['200']]]) }
  })
})

t.test('unusable files and folders are named with their flag', async t => {
  const folder = t.testdir({ file: '', junk: 'a,b', quote: '"a,b,c' })
  for (const [args, message] of [
    [[`--token-auth-file=${folder}/none`], /^--token-auth-file=.*none: cannot be read: there is no such file/],
    [[`--token-auth-file=${folder}/junk`], /^--token-auth-file=.*line 1/],
    [[`--token-auth-file=${folder}/quote`], /^--token-auth-file=.*line 1/],
    [[`--data-dir=${folder}/file`], /^--data-dir=.*is not a folder/],
    [[`--data-dir=${folder}/file/below`], /^--data-dir=.*not a folder/],
    [[`--audit-log-path=${folder}/file/audit.log`], /^--audit-log-path=.*cannot be written to: /],
    [[`--audit-log-path=${folder}`], /^--audit-log-path=.*cannot be written to: it is not an ordinary file/],
    [
      [
        '--audit-log-path=-', '--audit-log-mode=batch', '--audit-log-batch-throttle-enable',
        '--audit-log-batch-throttle-burst=1'
      ],
      /^--audit-log-batch-throttle-qps=0: must be more than 0/
    ],
    [
      [
        '--audit-log-path=-', '--audit-log-mode=batch', '--audit-log-batch-throttle-enable',
        '--audit-log-batch-throttle-qps=1'
      ],
      /^--audit-log-batch-throttle-burst=0: must be more than 0/
    ],
    [
      ['--audit-log-path=-', '--audit-log-truncate-enabled', '--audit-log-truncate-max-batch-size=100'],
      /^--audit-log-truncate-max-batch-size=100: must not be less than --audit-log-truncate-max-event-size=102400/
    ],
    [['--audit-log-path=/dev/null'], /^--audit-log-path=.*cannot be written to: it is not an ordinary file/],
    [['--etcd-servers=https://a:1', `--etcd-cafile=${folder}/junk`], /^--etcd-cafile=.*no CERTIFICATE block/],
    [
      ['--watch-cache-sizes=configmaps#1,podsets#10'], /^--watch-cache-sizes=.*: podsets is no resource of this version/
    ],
    [['--watch-cache-sizes=pods.apps#1'], /^--watch-cache-sizes=.*: pods.apps is no resource of this version/],
    [
      ['--etcd-servers=http://a:1', '--etcd-servers-overrides=/secrets#http://b:1,apps/podsets#http://c:1'],
      /^--etcd-servers-overrides=.*: apps\/podsets is no resource of this version/
    ],
    [['--cors-allowed-origins=('], /^--cors-allowed-origins=\(: "\(" is not a regular expression/],
    [['--runtime-config=/v2'], /^--runtime-config=\/v2: \/v2 is no API version/],
    [['--runtime-config=nope/v1'], /^--runtime-config=nope\/v1: nope\/v1 is no API version/]
  ] as const) {
    await t.rejects(
      load(...(args[0].startsWith('--etcd') ? [] : [`--data-dir=${folder}`]), ...args), { message }, args.join(' ')
    )
  }
})

t.test('files in another encoding, pipes and YAML that would take minutes are refused', async t => {
  const unreadable = t.testdir({ latin: Buffer.from('sesame,jos\xe9,1\n', 'latin1'), lines: 'a: b\n'.repeat(200_000) })
  const pipe = join(unreadable, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const [args, message] of [
    [[`--token-auth-file=${unreadable}/latin`], /^--token-auth-file=.*: is not valid UTF-8$/],
    [
      ['--authorization-mode=ABAC', `--authorization-policy-file=${unreadable}/latin`],
      /^--authorization-policy-file=.*: is not valid UTF-8$/
    ],
    [[`--authentication-config=${unreadable}/latin`], /^--authentication-config=.*: it is not valid UTF-8$/],
    [
      [`--authentication-config=${unreadable}/lines`],
      /^--authentication-config=.*: it is a YAML document of more than 600000 tokens/
    ],
    [
      [`--authentication-token-webhook-config-file=${pipe}`],
      /^--authentication-token-webhook-config-file=.*pipe cannot be read: it is not an ordinary file$/
    ]
  ] as const) await t.rejects(load(`--data-dir=${unreadable}`, ...args), { message }, args.join(' '))
})

t.test('an error never quotes a token', async t => {
  const folder = t.testdir({ secret: 'sesame,\n' })
  try {
    await load(`--data-dir=${folder}`, `--token-auth-file=${folder}/secret`)
    t.fail('a token without a user was accepted')
  } catch (error) {
    t.notMatch(String(error), /sesame/)
  }
})

t.test('a file of the operator may say more than a request', async t => {
  const rules = Array.from(
    { length: 10_000 },
    (_, index) => ({
      level: 'Metadata',
      users: [`user-${index}`],
      verbs: ['get', 'list'],
      resources: [{ group: '', resources: ['pods'] }]
    })
  )
  const folder = t.testdir({ 'policy.json': JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules }) })
  const { options } = await configuration(checkedFlags([
    `--data-dir=${folder}/data`, '--audit-log-path=-', `--audit-policy-file=${folder}/policy.json`
  ]))
  t.equal(options.audit?.policy?.rules?.length, rules.length)
})

t.test('flags without effect give warnings', async t => {
  const folder = t.testdir({ 'policy.yaml': 'apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{ level: None }]\n' })
  const warnings = async (...args: string[]): Promise<readonly string[]> =>
    (await configuration(checkedFlags([`--data-dir=${folder}/data`, ...args]))).warnings
  for (const [flag, without] of [
    ['authorization-webhook-version=v1', 'authorization-webhook-config-file'],
    ['authorization-webhook-cache-authorized-ttl=1s', 'authorization-webhook-config-file'],
    ['oidc-username-claim=email', 'oidc-issuer-url'],
    ['apiserver-count=3', 'endpoint-reconciler-type=master-count'],
    ['identity-lease-duration-seconds=60', 'feature-gates=APIServerIdentity=true']
  ]) t.strictSame(await warnings(`--${flag}`), [`--${flag?.split('=')[0]} has no effect without --${without}`])
  t.strictSame(await warnings('--cloud-provider=external'), [])
  const published = '--feature-gates=APIServerIdentity=true,StorageVersionAPI=true'
  t.strictSame(await warnings('--feature-gates=StorageVersionAPI=true'), [
    '--feature-gates=StorageVersionAPI=true has no effect without --feature-gates=APIServerIdentity=true'
  ])
  for (const served of [[], ['--runtime-config=internal.apiserver.orch.io/v1alpha1/storageversions=false,api/alpha']]) {
    t.strictSame(await warnings(published, ...served), [
      '--feature-gates=StorageVersionAPI=true has no effect without ' +
      '--runtime-config=internal.apiserver.orch.io/v1alpha1=true'
    ])
  }
  t.strictSame(await warnings(published, '--runtime-config=api/all=true'), [])
  t.strictSame(
    await warnings('--cloud-provider=external', '--cloud-config=c', '--azure-container-registry-config=a'),
    [
      '--cloud-config has no effect here: the cloud controller manager reads this file',
      '--azure-container-registry-config has no effect here: node agents pull images'
    ]
  )
  t.strictSame(await warnings('--contention-profiling', '--profiling=false'), [
    '--contention-profiling has no effect without --profiling'
  ])
  t.strictSame((await warnings('--audit-log-format=legacy', '--audit-log-maxage=3')).toSorted(), [
    '--audit-log-format has no effect without --audit-log-path',
    '--audit-log-maxage has no effect without --audit-log-path'
  ])
  t.match(await warnings('--max-requests-inflight=0', '--max-mutating-requests-inflight=0'), [
    /^--enable-priority-and-fairness has no effect with .*not limited$/
  ])
  t.strictSame(
    await warnings(
      '--max-requests-inflight=0', '--max-mutating-requests-inflight=0', '--enable-priority-and-fairness=false'
    ),
    []
  )
  t.strictSame(await warnings(`--audit-policy-file=${folder}/policy.yaml`), [
    '--audit-policy-file has no effect without --audit-log-path or --audit-webhook-config-file'
  ])
  t.strictSame(
    await warnings('--audit-log-path=-', '--audit-log-batch-max-size=3', '--audit-log-truncate-max-event-size=5'),
    [
      '--audit-log-batch-max-size has no effect without --audit-log-mode=batch',
      '--audit-log-truncate-max-event-size has no effect without --audit-log-truncate-enabled'
    ]
  )
  t.strictSame(
    await warnings('--audit-log-path=-', '--audit-log-format=legacy', '--audit-log-compress'),
    ['--audit-log-compress has no effect: standard output is not rotated']
  )
  t.strictSame(await warnings(`--audit-log-path=${folder}/audit.log`, '--audit-log-maxage=3'), [])
  t.strictSame(await warnings(`--audit-log-path=${folder}/new/deep/audit.log`), [])
  t.match(
    [statSync(`${folder}/new/deep`).mode & 0o777, statSync(`${folder}/new/deep/audit.log`).mode & 0o777],
    [0o700, 0o600], 'the folder is made, for its owner alone'
  )
})

t.test('an address and a port are joined as in a URL', async t => {
  t.equal(hostPort('1.2.3.4', 80), '1.2.3.4:80')
  t.equal(hostPort('::1', 80), '[::1]:80')
})
