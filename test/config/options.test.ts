import t from 'tap'
import { checkedFlags, configuration, hostPort } from '../../config/options.js'
import type { ServerOptions } from '../../config/server-options.js'
import { authority } from './authority.js'

const load = async (...args: string[]): Promise<ServerOptions> => (await configuration(checkedFlags(args))).options

t.test('without flags the options are the defaults of the interface', async t => {
  const data = `${t.testdir()}/data`
  t.match(await load(`--data-dir=${data}`), {
    storage: { kind: 'embedded', directory: data, healthcheckTimeout: 2000 },
    storePrefix: '/registry',
    storageMediaType: 'application/vnd.orch.protobuf',
    compactionInterval: 300_000,
    watchCacheSize: 100,
    metrics: { countInterval: 60_000, sizeInterval: 30_000, disabled: [] },
    disabledGroupVersions: [],
    anonymous: true,
    clientCertificates: false,
    authorizationModes: ['AlwaysAllow'],
    disabledAdmission: [],
    corsAllowedOrigins: [],
    strictTransportSecurity: [],
    requestTimeout: 60_000,
    minRequestTimeoutSeconds: 1800,
    maxRequestsInflight: 400,
    maxMutatingRequestsInflight: 200,
    deleteCollectionWorkers: 1,
    livezGracePeriod: 0,
    shutdownDelay: 0,
    shutdownSendRetryAfter: false
  })
})

t.test('flags and the files they name become options', async t => {
  const ca = authority()
  const client = ca.issue({ commonName: 'client', uses: ['client'] })
  const folder = t.testdir({ ca: ca.certificate, crt: client.certificate, key: client.key, tokens: 'sesame,alice,1,"devs,ops"\n' })
  const options = await load('--etcd-servers=https://a:2379,https://b:2379/', '--etcd-servers-overrides=/secrets#http://c:1;http://d:2,rbac.authorization.orch.io/roles#http://e:3',
    `--etcd-cafile=${folder}/ca`, `--etcd-certfile=${folder}/crt`, `--etcd-keyfile=${folder}/key`, '--etcd-prefix=/x', '--etcd-healthcheck-timeout=1s',
    `--token-auth-file=${folder}/tokens`, `--client-ca-file=${folder}/ca`, '--anonymous-auth=false', '--authorization-mode=AlwaysDeny,AlwaysAllow',
    `--audit-log-path=${folder}/audit.log`, '--audit-log-format=legacy', '--audit-log-maxsize=5', '--audit-log-maxbackup=2', '--audit-log-maxage=3', '--audit-log-compress',
    '--advertise-address=fd00::1', '--secure-port=7443', '--external-hostname=api.example.com', '--storage-media-type=application/json',
    '--runtime-config=rbac.authorization.orch.io/v1=false', '--disabled-metrics=a,b', '--request-timeout=30s', '--shutdown-send-retry-after',
    '--cors-allowed-origins=^https://x$', '--strict-transport-security-directives=max-age=1,preload')
  t.match(options, {
    storage: {
      kind: 'etcd',
      servers: ['https://a:2379', 'https://b:2379'],
      ca: ca.certificate,
      certificate: client.certificate,
      key: client.key,
      healthcheckTimeout: 1000,
      overrides: { '/secrets': ['http://c:1', 'http://d:2'], 'rbac.authorization.orch.io/roles': ['http://e:3'] }
    },
    storePrefix: '/x',
    storageMediaType: 'application/json',
    tokens: /sesame/,
    clientCertificates: true,
    anonymous: false,
    authorizationModes: ['AlwaysDeny', 'AlwaysAllow'],
    audit: { path: `${folder}/audit.log`, format: 'legacy', maxSizeMegabytes: 5, maxBackups: 2, maxAgeDays: 3, compress: true },
    advertiseAddress: '[fd00::1]:7443',
    externalHostname: 'api.example.com',
    disabledGroupVersions: ['rbac.authorization.orch.io/v1'],
    metrics: { disabled: ['a', 'b'] },
    requestTimeout: 30_000,
    shutdownSendRetryAfter: true,
    corsAllowedOrigins: ['^https://x$'],
    strictTransportSecurity: ['max-age=1', 'preload']
  })
})

t.test('files and folders that will not do are named with their flag', async t => {
  const folder = t.testdir({ file: '', junk: 'a,b', quote: '"a,b,c', secret: 'sesame,\n' })
  for (const [args, message] of [
    [[`--token-auth-file=${folder}/none`], /^--token-auth-file=.*none: cannot be read: there is no such file/],
    [[`--token-auth-file=${folder}/junk`], /^--token-auth-file=.*line 1/],
    [[`--token-auth-file=${folder}/quote`], /^--token-auth-file=.*line 1/],
    [[`--data-dir=${folder}/file`], /^--data-dir=.*is not a folder/],
    [[`--data-dir=${folder}/file/below`], /^--data-dir=.*not a folder/],
    [[`--audit-log-path=${folder}/none/audit.log`], /^--audit-log-path=.*cannot be written to: there is no such file/],
    [[`--audit-log-path=${folder}`], /^--audit-log-path=.*cannot be written to: it is not an ordinary file/],
    [['--audit-log-path=/dev/null'], /^--audit-log-path=.*cannot be written to: it is not an ordinary file/],
    [['--etcd-servers=https://a:1', `--etcd-cafile=${folder}/junk`], /^--etcd-cafile=.*no CERTIFICATE block/],
    [['--watch-cache-sizes=configmaps#1,pods#10'], /^--watch-cache-sizes=.*: pods is no resource of this version/],
    [['--etcd-servers=http://a:1', '--etcd-servers-overrides=/secrets#http://b:1,apps/deployments#http://c:1'], /^--etcd-servers-overrides=.*: apps\/deployments is no resource of this version/],
    [['--cors-allowed-origins=('], /^--cors-allowed-origins=\(: "\(" is not a regular expression/],
    [['--runtime-config=nope/v1'], /^--runtime-config=nope\/v1: nope\/v1 is no API version/]
  ] as const) await t.rejects(load(...(args[0].startsWith('--etcd') ? [] : [`--data-dir=${folder}`]), ...args), { message }, args.join(' '))
  try {
    await load(`--data-dir=${folder}`, `--token-auth-file=${folder}/secret`)
    t.fail('a token without a user was accepted')
  } catch (error) {
    t.notMatch(String(error), /sesame/)
  }
})

t.test('flags without anything to act on are warned of', async t => {
  const folder = t.testdir()
  const warnings = async (...args: string[]): Promise<readonly string[]> => (await configuration(checkedFlags([`--data-dir=${folder}/data`, ...args]))).warnings
  t.strictSame(await warnings('--audit-log-format=legacy', '--audit-log-maxage=3'), ['--audit-log-maxage has no effect without --audit-log-path', '--audit-log-format has no effect without --audit-log-path'])
  t.strictSame(await warnings('--audit-log-path=-', '--audit-log-format=legacy', '--audit-log-compress'), ['--audit-log-compress has no effect: standard output is not rotated'])
  t.strictSame(await warnings(`--audit-log-path=${folder}/audit.log`, '--audit-log-maxage=3'), [])
})

t.test('an address and a port are joined as in a URL', async t => {
  t.equal(hostPort('1.2.3.4', 80), '1.2.3.4:80')
  t.equal(hostPort('::1', 80), '[::1]:80')
})
