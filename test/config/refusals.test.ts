import t from 'tap'
import { checkCombinations } from '../../config/combinations.js'
import { gateWarnings } from '../../config/feature-gates.js'
import { ABSENT } from '../../config/flags/absent.js'
import { FLAGS, type FlagName } from '../../config/flags/index.js'
import { parseArguments } from '../../config/command-line.js'
import { withReleaseDefaults } from '../../config/flags-of-release.js'
import { laterApis } from '../../config/later-apis.js'
import { disabledApis } from '../../config/runtime-config.js'

function check (...args: string[]): void {
  const parsed = withReleaseDefaults(parseArguments(args))
  checkCombinations(parsed)
  disabledApis(parsed.values['runtime-config'], parsed.given.get('runtime-config'))
  laterApis(parsed)
}

/** Arguments, and the expected line. */
const REFUSED: ReadonlyArray<readonly [string, RegExp]> = [
  ['--secure-port=0', /--secure-port=0: must be between 1 and 65535, the secure port cannot be switched off/],
  ['--secure-port=65536', /between 1 and 65535/],
  ['--bind-address=localhost', /--bind-address=localhost: must be an IP address/],
  ['--advertise-address=0.0.0.0', /others can reach/],
  ['--tls-cert-file=a.crt', /--tls-cert-file=a.crt: needs --tls-private-key-file/],
  ['--tls-private-key-file=a.key', /--tls-private-key-file=a.key: needs --tls-cert-file/],
  ['--tls-min-version=TLS1.2', /one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13/],
  ['--tls-cipher-suites=TLS_NULL', /"TLS_NULL" is not a known cipher suite/],
  ['--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA', /not offered by this runtime/],
  ['--tls-cipher-suites=__proto__', /not a known cipher suite/],
  ['--strict-transport-security-directives=max-age=x', /max-age=SECONDS/],
  ['--external-hostname=a_b/c', /host name/],
  ['--external-hostname=host:65536', /host name, with a port/],
  ['--data-dir=x --etcd-servers=http://127.0.0.1:2379', /--data-dir=x: .*--etcd-servers/],
  ['--data-dir-min-free=100 --etcd-servers=http://127.0.0.1:2379', /--data-dir-min-free=100: .*--etcd-servers/],
  ['--history-retention=24h --etcd-servers=http://127.0.0.1:2379', /--history-retention=24h: .*--etcd-servers/],
  [
    '--history-retention=24h --etcd-compaction-interval=1m',
    /--history-retention=24h: .*leave --etcd-compaction-interval out/
  ],
  ['--history-retention=yesterday', /a time such as 24h or a size such as 2Gi/],
  ['--history-retention=1s', /at least 1m/],
  ['--history-retention=1Ki', /at least 1Mi/],
  ['--data-dir=', /must be a folder/],
  ['--etcd-servers=127.0.0.1:2379', /scheme:\/\/host:port/],
  ['--etcd-servers=http://user:secret@h:1', /scheme:\/\/host:port/],
  ['--etcd-servers-overrides=events#http://h:1', /group\/resource#server/],
  ['--etcd-servers-overrides=/events#http://h:1', /needs --etcd-servers/],
  ['--etcd-servers=http://a:1 --etcd-servers-overrides=/secrets#http://h:1,/secrets#http://i:1', /\/secrets twice/],
  [
    '--etcd-servers=http://a:1,https://b:1',
    /--etcd-servers=.*: the servers of one cluster are either all https or all http/
  ],
  [
    '--etcd-servers=http://a:1 --etcd-servers-overrides=/secrets#http://h:1;https://i:1',
    /--etcd-servers-overrides=.*either all https/
  ],
  ['--etcd-servers=http://a:1 --etcd-cafile=c', /--etcd-cafile=c: is for servers with https/],
  ['--etcd-servers=http://a:1 --etcd-certfile=c --etcd-keyfile=k', /--etcd-certfile=c: is for servers with https/],
  [
    '--tls-min-version=VersionTLS13 --tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    /TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 is no suite of TLS 1.3/
  ],
  ['--etcd-certfile=a', /needs --etcd-keyfile/],
  ['--etcd-cafile=a', /needs --etcd-servers/],
  ['--storage-backend=etcd3', /needs --etcd-servers/],
  ['--storage-backend=etcd2', /must be etcd3/],
  ['--storage-media-type=text/plain', /one of/],
  ['--storage-media-type=application/vnd.kubernetes.protobuf', /needs --compat-names/],
  [
    '--cloud-provider=gce',
    /--cloud-provider=gce: is a cloud provider that would be built into the server.*use external/
  ],
  ['--cloud-provider=mine', /must be external, or left out/],
  ['--cloud-config=c', /needs --cloud-provider/],
  ['--etcd-prefix=registry', /begin with \//],
  ['--etcd-healthcheck-timeout=0', /at least/],
  ['--watch-cache-sizes=pods', /resource\[.group\]#size/],
  ['--encoded-objects-cache-size=1GB', /a size such as 512Mi, a share of memory such as 25%, or 0/],
  ['--encoded-objects-cache-size=101%', /a share of memory such as 25%/],
  ['--delete-collection-workers=0', /between 1 and 1000/],
  ['--service-account-signing-key-file=k', /needs --service-account-key-file/],
  ['--service-account-signing-key-file=k --service-account-key-file=p', /needs --service-account-issuer/],
  ['--service-account-jwks-uri=https://keys', /needs --service-account-issuer/],
  ['--service-account-jwks-uri=http://keys', /https/],
  ['--service-account-max-token-expiration=10m', /0 or at least 1h/],
  ['--service-account-issuer=http://[', /URI/],
  ['--service-account-issuer=https://a,https://b,https://a', /has https:\/\/a twice; leave one out/],
  ['--runtime-config=api/all=false', /switches everything off; name what to serve/],
  ['--oidc-issuer-url=https://issuer.example', /needs --oidc-client-id/],
  ['--oidc-issuer-url=http://issuer.example', /https URL/],
  ['--oidc-issuer-url=https://issuer.example/?tenant=a', /without user, query and fragment/],
  ['--oidc-issuer-url=https://user:secret@issuer.example', /without user, query and fragment/],
  ['--requestheader-client-ca-file=ca.crt', /needs --requestheader-username-headers/],
  ['--requestheader-username-headers=X-Remote-User', /needs --requestheader-client-ca-file/],
  ['--requestheader-group-headers=X-Remote-Group', /needs --requestheader-client-ca-file/],
  ['--requestheader-extra-headers-prefix=X-Remote-Extra-', /needs --requestheader-client-ca-file/],
  ['--requestheader-allowed-names=front', /needs --requestheader-client-ca-file/],
  ['--requestheader-username-headers=a(b', /must be the name of a header/],
  ['--oidc-signing-algs=HS256', /one of RS256/],
  ['--proxy-client-key-file=x', /needs --proxy-client-cert-file/],
  ['--authorization-mode=Sometimes', /"Sometimes" must be one of AlwaysAllow/],
  ['--authorization-mode=', /at least one mode/],
  ['--authorization-mode=AlwaysDeny,AlwaysDeny', /twice/],
  ['--authorization-mode=ABAC', /ABAC needs --authorization-policy-file/],
  ['--authorization-mode=Webhook', /Webhook needs --authorization-webhook-config-file/],
  ['--authorization-mode=ABAC', /needs --authorization-policy-file/],
  ['--authorization-policy-file=/p', /needs ABAC in --authorization-mode/],
  ['--authorization-policy-file=p', /needs ABAC/],
  ['--audit-log-version=audit.orch.io/v1beta1', /must be one of audit.orch.io\/v1, audit.k8s.io\/v1/],
  ['--audit-webhook-version=audit.k8s.io/v1', /needs --compat-names/],
  ['--service-cluster-ip-range=10.0.0.0/24,fd00::/108,10.1.0.0/24', /at most two/],
  ['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24', /one of IPv4 and one of IPv6/],
  ['--orch-service-node-port=80', /within --service-node-port-range/],
  ['--enable-admission-plugins=Nope', /"Nope" is not an admission plugin/],
  [
    '--enable-admission-plugins=NamespaceLifecycle --disable-admission-plugins=NamespaceLifecycle', /take it out of one/
  ],
  ['--emulated-version=1.30', /--emulated-version=1.30: must be one of 1.24, 1.36/],
  ['--emulated-version=1.36.2', /a release, without a patch: 1.36/],
  ['--emulated-version=1.36,1.36', /more than one release/],
  ['--emulated-version=orch=1.36,kube=1.36', /more than one release/],
  ['--emulated-version=1.24 --emulated-version=1.36', /more than one release/],
  ['--emulated-version=etcd=1.36', /"etcd" is no component of this server; write orch=1.36/],
  ['--emulated-version==1.36', /"" is no component/],
  ['--emulated-version=', /must be one of/],
  ['--emulated-version=v1.36.0-rc.1', /must be one of/],
  [
    '--emulated-version=1.36 --enable-admission-plugins=PodSecurityPolicy',
    /--enable-admission-plugins=PodSecurityPolicy: PodSecurityPolicy went with release 1.25; leave it out/
  ],
  [
    '--emulated-version=1.36 --disable-admission-plugins=SecurityContextDeny',
    /SecurityContextDeny went with release 1.30/
  ],
  [
    '--emulated-version=1.36 --cloud-provider=external',
    /--cloud-provider=external: went with release 1.33; leave it out/
  ],
  [
    '--emulated-version=1.36 --identity-lease-duration-seconds=3600',
    /--identity-lease-duration-seconds=3600: went with release 1.26/
  ],
  ['--emulated-version=1.36 --master-service-namespace=default', /went with release 1.27/],
  ['--requestheader-uid-headers=X-Remote-Uid', /needs --requestheader-client-ca-file/],
  [
    '--emulated-version=1.36 --feature-gates=RemoteRequestHeaderUID=false --requestheader-client-ca-file=a ' +
    '--requestheader-username-headers=u --requestheader-uid-headers=X-Remote-Uid',
    /needs the feature gate RemoteRequestHeaderUID/
  ],
  ['--min-compatibility-version=1.36', /--min-compatibility-version=1.36: must be 1.24 where that release is emulated/],
  ['--emulated-version=1.36 --min-compatibility-version=1.33', /must be between 1.34 and the emulated release 1.36/],
  ['--emulated-version=1.36 --min-compatibility-version=1.37', /must be a release between 1.24 and 1.36/],
  ['--min-compatibility-version=1.24.1', /a release, without a patch: 1.24/],
  ['--min-compatibility-version=etcd=1.24', /"etcd" is no component of this server/],
  [
    '--emulated-version=1.36 --emulation-forward-compatible',
    /--emulation-forward-compatible=true: is for --emulated-version of an earlier release than 1.36/
  ],
  ['--emulated-version=1.36 --runtime-config-emulation-forward-compatible', /is for --emulated-version of an earlier/],
  [
    '--runtime-config=flowcontrol.apiserver.orch.io/v1=true',
    /flowcontrol.apiserver.orch.io\/v1 came after release 1.24; leave it out, or add --runtime-config-emulation-forward-compatible/
  ],
  [
    '--runtime-config=storage.orch.io/v1/volumeattributesclasses=true',
    /volumeattributesclasses came after release 1.24/
  ],
  [
    '--emulated-version=1.36 --feature-gates=CustomResourceValidationExpressions=false',
    /CustomResourceValidationExpressions went with release 1.31; leave it out, what it brought is always on/
  ],
  ['--feature-gates=Nope=true', /"Nope" is not a feature gate/],
  ['--feature-gates=orch:Nope=true', /"Nope" is not a feature gate/],
  ['--feature-gates=other:AppArmor=true', /"other:AppArmor" is not a feature gate/],
  [
    '--feature-gates=orch:AppArmor=true --feature-gates=NodeSwap=true',
    /orch:AppArmor names its component and NodeSwap does not/
  ],
  ['--feature-gates=kube:ServerSideApply=false', /cannot set ServerSideApply to false, it is GA and locked to true/],
  ['--feature-gates=__proto__=true', /not a feature gate/],
  ['--feature-gates=AppArmor', /key=value/],
  ['--feature-gates=AppArmor=perhaps', /true or false/],
  [
    '--emulated-version=1.36 --feature-gates=StorageVersionAPI=true,APIServerIdentity=false',
    /StorageVersionAPI needs APIServerIdentity: switch both on, or both off/
  ],
  [
    '--emulated-version=1.36 --feature-gates=NodeDeclaredFeatures=false',
    /needs NodeDeclaredFeatures: switch both on, or both off/
  ],
  [
    '--emulated-version=1.36 --feature-gates=SidecarContainers=false',
    /cannot set SidecarContainers to false, it is GA and locked to true; leave it out$/
  ],
  [
    '--emulated-version=1.36 --feature-gates=GitRepoVolumeDriver=true',
    /cannot set GitRepoVolumeDriver to true, it is deprecated and locked to false/
  ],
  [
    '--emulated-version=1.36 --feature-gates=DynamicKubeletConfig=false',
    /DynamicKubeletConfig went with release 1.26; leave it out, what it brought is gone/
  ],
  [
    '--feature-gates=SidecarContainers=true',
    /SidecarContainers came with release 1.28; leave it out, or emulate release 1.36/
  ],
  [
    '--feature-gates=AppArmorFields=true',
    /AppArmorFields came with release 1.30; leave it out \(it went with release 1.33\)/
  ],
  ['--feature-gates=ServerSideApply=false', /cannot set ServerSideApply to false, it is GA and locked to true/],
  ['--runtime-config=example.org/v1=false', /no API version/],
  ['--runtime-config=apps/v1/podsets=false', /apps\/v1\/podsets is no API version/],
  ['--garbage-collection=yes', /must be one of auto, on, off/],
  [
    '--garbage-collection=on --enable-garbage-collector=false',
    /--garbage-collection=on: needs --enable-garbage-collector, without which no deletion waits for a collector/
  ],
  ['--logging-format=xml', /must be one of text, json/],
  ['-v=11', /between 0 and 10/],
  ['--vmodule=x', /pattern=N/],
  ['--vmodule=[=1', /pattern that cannot be read/],
  ['--tracing-config-file=/t', /needs --feature-gates=APIServerTracing=true/],
  ['--tracing-config-file=/t --feature-gates=APIServerTracing=false', /needs --feature-gates=APIServerTracing=true/],
  ['--show-hidden-metrics-for-version=1', /MAJOR.MINOR/],
  ['--show-hidden-metrics-for-version=1.22', /must be 1.23/],
  ['--allow-metric-labels=verb=GET', /metric,label=value/],
  ['--allow-metric-labels=x', /metric,label=value/],
  ['--disabled-metrics=a-b', /name of a metric/],
  ['--tls-curve-preferences=7', /"7" is not the number of a known group; they are 23, 24/],
  ['--tls-curve-preferences=X25519', /not the number of a known group/],
  ['--debug-socket-path=x', /must be an absolute path/],
  [`--debug-socket-path=/${'x'.repeat(200)}`, /must have at most \d+ bytes/],
  [
    '--log-text-split-stream',
    /--log-text-split-stream=true: needs --feature-gates=LoggingAlphaOptions=true and --logging-format=text/
  ],
  [
    '--log-text-split-stream --logging-format=json --emulated-version=1.36 --feature-gates=LoggingAlphaOptions=true',
    /needs .* --logging-format=text/
  ],
  ['--log-text-info-buffer-size=1Ki', /needs --feature-gates=LoggingAlphaOptions=true/],
  ['--log-text-info-buffer-size=many', /must be a number of bytes such as 64Ki/],
  ['--etcd-readycheck-timeout=0', /at least/],
  ['--service-account-signing-endpoint=/s', /needs --service-account-issuer/],
  ['--service-account-signing-endpoint=@s --service-account-issuer=https://a', /must be an absolute path/],
  [
    '--service-account-signing-endpoint=/s --service-account-issuer=https://a --service-account-key-file=k',
    /--service-account-key-file=k: excludes --service-account-signing-endpoint/
  ],
  [
    '--peer-ca-file=/ca',
    /^--peer-ca-file: is not implemented: requests that only another API server can serve are not passed on/
  ],
  ['--coordinated-leadership-retry-period=2s', /is not implemented: candidates for leader election/]
]

t.test('unsupported values are refused, naming the flag', async t => {
  for (const [args, message] of REFUSED) t.throws(() => check(...args.split(' ')), { message }, args)
})

t.test('values that ask for nothing, or for the existing behaviour, are accepted', async t => {
  for (const args of [
    '', '--vmodule=request*=8,tracing=4', '--feature-gates=APIServerTracing=true --tracing-config-file=/t',
    '--feature-gates=APIServerTracing=true', '--profiling=false', '--log-flush-frequency=1s',
    '--experimental-logging-sanitization', '--goaway-chance=0.001', '--audit-log-mode=blocking-strict',
    '--enable-priority-and-fairness=false',
    '--enable-priority-and-fairness=false --max-requests-inflight=0 --max-mutating-requests-inflight=0',
    '--max-requests-inflight=0 --max-mutating-requests-inflight=0',
    '--feature-gates=APIPriorityAndFairness=false --max-requests-inflight=0 --max-mutating-requests-inflight=0',
    '--endpoint-reconciler-type=none', '--show-hidden-metrics-for-version=1.23',
    '--local --etcd-servers=http://a:1 --data-dir=x', '--storage-media-type=application/yaml',
    '--cloud-provider=external --cloud-config=c', '--cloud-provider-gce-l7lb-src-cidrs=10.0.0.0/8',
    '--azure-container-registry-config=c', '--audit-webhook-mode=batch', '--node-agent-timeout=5s',
    '--oidc-signing-algs=RS256', '--authorization-mode=AlwaysDeny,AlwaysAllow',
    '--enable-admission-plugins=NamespaceLifecycle,AlwaysAdmit',
    '--disable-admission-plugins=ServiceAccount,NamespaceLifecycle',
    '--feature-gates=AppArmor=true,AnyVolumeDataSource=False', '--feature-gates=AllBeta=true',
    '--feature-gates=AllBeta=false', '--feature-gates=AllAlpha=true', '--emulated-version=1.36',
    '--emulated-version=v1.36', '--emulated-version=1.36.0', '--emulated-version=kube=1.36',
    '--emulated-version=orch=v1.24.0', '--min-compatibility-version=kube=1.24',
    '--emulated-version=1.36 --min-compatibility-version=v1.34',
    '--emulated-version=1.36 --min-compatibility-version=1.36.0',
    '--emulated-version=1.36 --emulation-forward-compatible=false', '--emulation-forward-compatible',
    '--runtime-config-emulation-forward-compatible --runtime-config=storage.orch.io/v1/volumeattributesclasses=true',
    '--runtime-config=storage.orch.io/v1=true,flowcontrol.apiserver.orch.io/v1=false',
    '--emulated-version=1.36 --feature-gates=AllAlpha=true,AllBeta=false',
    '--feature-gates=AllAlpha=true,StorageVersionAPI=false,AllBeta=False',
    '--feature-gates=APIPriorityAndFairness=false', '--feature-gates=AllAlpha=false',
    '--feature-gates=ServerSideApply=true',
    '--runtime-config=batch/v1=false', '--runtime-config=api/beta=false',
    '--runtime-config=api/all=true,api/alpha=false',
    '--etcd-servers=https://a:2379,https://[::1]:2379 ' +
    '--etcd-servers-overrides=/events#http://h:1;http://i:1,apps/deployments#http://j:1',
    '--storage-backend=etcd3 --etcd-servers=http://a:1',
    '--etcd-servers=http://a:1 --etcd-servers-overrides=/secrets#https://h:1 --etcd-cafile=c',
    '--tls-min-version=VersionTLS13 --tls-cipher-suites=TLS_AES_128_GCM_SHA256'
  ]) t.doesNotThrow(() => check(...args.split(' ').filter(Boolean)), args)
})

t.test('every flag is accepted with its own default', async t => {
  for (const [name, flag] of Object.entries(FLAGS)) {
    if (flag.defaultText !== '' && !name.startsWith('data-dir')) {
      t.doesNotThrow(() => check(`--${name}=${flag.defaultText}`), name)
    }
  }
})

t.test('versions are disabled by name or by stage, and the more specific setting takes precedence', async t => {
  const off = (text: string): string[] =>
    disabledApis(parseArguments([`--runtime-config=${text}`]).values['runtime-config'], text)
  const ALPHA = 'internal.apiserver.orch.io/v1alpha1'
  const TAINTS = 'resource.orch.io/v1alpha3'
  const NEW = [
    'networking.orch.io/v1beta1', 'admissionregistration.orch.io/v1beta1', 'resource.orch.io/v1beta2',
    'resource.orch.io/v1beta1', 'storagemigration.orch.io/v1beta1'
  ]
  const CLASSES = 'storage.orch.io/v1beta1/volumeattributesclasses'
  t.strictSame(off('api/beta=true'), [TAINTS, ALPHA], 'alpha versions are off unless requested')
  t.strictSame(off('api/alpha=true'), [...NEW, CLASSES], 'so are beta versions and resources that came later')
  t.strictSame(off('api/all=true'), [])
  t.strictSame(off(`${ALPHA}=true,${TAINTS}=true`), [...NEW, CLASSES])
  t.strictSame(off(NEW.map(name => `${name}=true`).join(',')), [TAINTS, ALPHA, CLASSES])
  t.notOk(off('storage.orch.io/v1beta1=true').includes(CLASSES), 'a version is asked for with all its resources')
  t.notOk(off(`${CLASSES}=true`).includes(CLASSES))
  t.strictSame(off('rbac.authorization.orch.io/v1=false,api/alpha,api/beta'), ['rbac.authorization.orch.io/v1'])
  t.strictSame(off('v1=false,api/alpha,api/beta'), ['v1'])
  t.strictSame(off('api/v1=false,api/alpha,api/beta'), ['v1'])
  t.ok(off('api/ga=false,api/beta').every(name => !name.includes('beta')))
  t.notOk(off('api/all=false,v1').includes('v1'))
  t.strictSame(off('api/beta=false,api/alpha').filter(name => !NEW.includes(name)).sort(), [
    'autoscaling/v2beta1', 'autoscaling/v2beta2', 'batch/v1beta1', 'discovery.orch.io/v1beta1',
    'events.orch.io/v1beta1', 'flowcontrol.apiserver.orch.io/v1beta1', 'flowcontrol.apiserver.orch.io/v1beta2',
    'node.orch.io/v1beta1', 'policy/v1beta1', 'storage.orch.io/v1beta1'
  ])
  t.strictSame(off('apps/v1/daemonsets=false,api/alpha,api/beta'), ['apps/v1/daemonsets'])
  t.strictSame(off('v1/pods=false,api/alpha,api/beta'), ['v1/pods'])
  t.strictSame(off('apps/v1=false,apps/v1/daemonsets,api/alpha,api/beta'), [
    'apps/v1/controllerrevisions', 'apps/v1/deployments', 'apps/v1/replicasets', 'apps/v1/statefulsets'
  ])
})

t.test('gates without effect give warnings', async t => {
  t.match(
    gateWarnings(
      new Map([['ServerSideApply', 'true'], ['AppArmor', 'true'], ['DynamicKubeletConfig', 'false']]), '1.24'
    ),
    [/ServerSideApply.*GA/, /DynamicKubeletConfig.*deprecated/]
  )
  t.match(gateWarnings(new Map([['AllAlpha', 'true'], ['AllBeta', 'false']]), '1.36'), [/AllAlpha.*stay off/])
  t.strictSame(gateWarnings(new Map([['AllAlpha', 'true']]), '1.24'), [])
})

t.test('a refusal names the flag that was given', async t => {
  const names = REFUSED.map(([args]) => args).filter(args => args.startsWith('--'))
  for (const args of names) {
    try {
      check(...args.split(' '))
      t.fail(args)
    } catch (error) {
      const name = /^--([a-z0-9-]+)/.exec((error as Error).message)?.[1] as FlagName | undefined
      t.ok(name !== undefined && (Object.hasOwn(FLAGS, name) || Object.hasOwn(ABSENT, name)), (error as Error).message)
    }
  }
})
