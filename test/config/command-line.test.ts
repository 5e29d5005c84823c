import t from 'tap'
import { readDuration, showDuration } from '../../config/flag.js'
import { parseArguments } from '../../config/command-line.js'
import type { FlagName } from '../../config/flags/index.js'

const value = (name: FlagName, ...args: string[]): unknown => parseArguments(args).values[name]

t.test('a flag and its value are joined by = or a space', async t => {
  t.equal(value('secure-port', '--secure-port=8443'), 8443)
  t.equal(value('secure-port', '--secure-port', '8443'), 8443)
  t.equal(value('oidc-username-prefix', '--oidc-username-prefix', '-'), '-')
  t.equal(value('external-hostname', '--external-hostname='), '')
  t.equal(value('etcd-prefix', '--etcd-prefix=/a=b'), '/a=b', 'only the first = separates')
})

t.test('a bool flag has no value or one after =, and never takes the next argument', async t => {
  t.equal(value('profiling', '--profiling=false'), false)
  t.equal(value('shutdown-send-retry-after', '--shutdown-send-retry-after'), true)
  t.equal(value('secure-port', '--shutdown-send-retry-after', '--secure-port=1'), 1)
  t.throws(() => parseArguments(['--anonymous-auth', 'false']), /unexpected argument "false"/)
  t.throws(() => parseArguments(['--anonymous-auth=maybe']), /--anonymous-auth=maybe: must be true or false/)
})

t.test('verbosity has a letter', async t => {
  for (const args of [['-v', '4'], ['-v=4'], ['-v4'], ['--v=4'], ['--v', '4']]) {
    t.equal(value('v', ...args), 4, args.join(' '))
  }
  t.equal(value('help', '-h'), true)
})

t.test('the last value of a repeated scalar flag counts', async t => {
  t.equal(value('secure-port', '--secure-port=1', '--secure-port', '2'), 2)
  t.equal(value('profiling', '--profiling', '--profiling=false'), false)
})

t.test('a list takes commas and repetition and replaces the default', async t => {
  t.strictSame(value('authorization-mode'), ['AlwaysAllow'])
  t.strictSame(value('authorization-mode', '--authorization-mode=AlwaysDeny'), ['AlwaysDeny'])
  t.strictSame(
    value('etcd-servers', '--etcd-servers=http://a:1,http://b:2', '--etcd-servers', 'http://c:3'),
    ['http://a:1', 'http://b:2', 'http://c:3']
  )
  t.strictSame(value('cors-allowed-origins', '--cors-allowed-origins= a , b '), ['a', 'b'])
  t.strictSame(value('authorization-mode', '--authorization-mode='), [])
  t.throws(() => parseArguments(['--api-audiences=a,,b']), /empty value/)
})

t.test('a repeated flag keeps its commas', async t => {
  t.strictSame(value(
    'tls-sni-cert-key', '--tls-sni-cert-key=a.crt,a.key:*.x.org,y.org', '--tls-sni-cert-key=b.crt,b.key'
  ),
  ['a.crt,a.key:*.x.org,y.org', 'b.crt,b.key'])
  t.throws(() => parseArguments(['--tls-sni-cert-key=a.crt']), /--tls-sni-cert-key=a.crt: must have the form/)
})

t.test('pairs make a map that nothing inherits into', async t => {
  t.strictSame(
    value('oidc-required-claim', '--oidc-required-claim=a=1,b=2', '--oidc-required-claim=b=3,__proto__=4'),
    new Map([['a', '1'], ['b', '3'], ['__proto__', '4']])
  )
  t.throws(() => parseArguments(['--oidc-required-claim=a']), /"a" must have the form key=value/)
  t.strictSame(
    value('runtime-config', '--runtime-config=api/all'), new Map([['api/all', 'true']]), 'a key alone is true'
  )
  t.throws(() => parseArguments(['--runtime-config=api/all=maybe']), /true or false/)
})

t.test('durations of flags become milliseconds', async t => {
  for (const [text, milliseconds] of [
    ['1m30s', 90_000], ['0', 0], ['500ms', 500], ['1.5h', 5_400_000], ['2h45m10s', 9_910_000], ['1us', 0.001],
    ['100µs', 0.1], ['-5s', -5000], ['.5s', 500]
  ] as const) {
    t.equal(readDuration(text), milliseconds, text)
  }
  for (const text of ['', '5', '5 s', 's', '1d', '1h 2m', '1e3s', '1..5s', 'Infinity', `${'1s'.repeat(60)}`]) {
    t.equal(readDuration(text), undefined, text)
  }
  t.equal(showDuration(300_000), '5m0s')
  t.equal(showDuration(3_600_000), '1h0m0s')
  t.equal(showDuration(90_500), '1m30.5s')
  t.equal(showDuration(250), '250ms')
  t.equal(showDuration(2 ** 31 - 1), '596h31m23.647s')
})

t.test('a duration too long for a timer is refused', async t => {
  t.throws(() => parseArguments(['--request-timeout=9999h']), /--request-timeout=9999h: must be at most 596h/)
  t.throws(() => parseArguments(['--request-timeout=0']), /at least 1ms/)
  t.throws(() => parseArguments(['--request-timeout=-1s']), /at least 1ms/)
})

t.test('port ranges and CIDRs are read', async t => {
  t.strictSame(value('service-node-port-range', '--service-node-port-range=1-65535'), { from: 1, to: 65535 })
  for (const bad of ['0-10', '10-1', '1-65536', '10', 'a-b', '1-2-3']) {
    t.throws(() => parseArguments([`--service-node-port-range=${bad}`]), /must be two ports/, bad)
  }
  t.strictSame(value('secure-port', '--secure_port=7000'), 7000, 'underscores for dashes')
  t.strictSame(value('secure-port', '--secure_port', '7001'), 7001)
  t.strictSame(value('anonymous-auth', '--anonymous_auth'), true)
  t.strictSame(
    value('cloud-provider-gce-l7lb-src-cidrs', '--cloud-provider-gce-l7lb-src-cidrs=10.0.0.0/8,fd00::/64'),
    ['10.0.0.0/8', 'fd00::/64']
  )
  for (const bad of ['10.0.0.0', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', '10.0.0.0/8/8', '/8']) {
    t.throws(() => parseArguments([`--service-cluster-ip-range=${bad}`]), /must be a CIDR/, bad)
  }
})

t.test('numbers are whole, in range and safe', async t => {
  for (const bad of ['', 'x', '1.5', '0x10', '1e3', '99999999999999999999']) {
    t.throws(() => parseArguments([`--apiserver-count=${bad}`]), /--apiserver-count=.*: must be a whole number/, bad)
  }
  t.throws(() => parseArguments(['--apiserver-count=0']), /at least 1/)
  t.equal(value('default-not-ready-toleration-seconds', '--default-not-ready-toleration-seconds', '-1'), -1)
  t.equal(value('goaway-chance', '--goaway-chance=.02'), 0.02)
  t.throws(() => parseArguments(['--goaway-chance=0.021']), /between 0 and 0.02/)
  t.throws(() => parseArguments(['--goaway-chance=NaN']), /must be a number/)
})

t.test('an unknown flag, a stray argument and a missing value are named', async t => {
  t.throws(
    () => parseArguments(['--secure-prot=1']),
    { message: 'unknown flag --secure-prot: did you mean --secure-port? --help lists all flags' }
  )
  t.throws(
    () => parseArguments(['--secure-prot', '1', '--nope']), /unknown flag --secure-prot: did you mean --secure-port\?/
  )
  t.throws(() => parseArguments(['--etcd-ca-file=x']), /did you mean --etcd-cafile\?/)
  t.throws(
    () => parseArguments(['--oidc-groups-claims=x']),
    { message: 'unknown flag --oidc-groups-claims: did you mean --oidc-groups-claim? --help lists all flags' }
  )
  t.throws(() => parseArguments(['--audit-log-maxge=x']), /did you mean --audit-log-maxage\?/)
  t.throws(() => parseArguments(['--zzz']), { message: 'unknown flag --zzz: --help lists all flags' })
  t.throws(() => parseArguments(['--port=8443']), { message: 'unknown flag --port: did you mean --secure-port?' })
  t.throws(() => parseArguments(['-x']), /unknown flag -x/)
  t.throws(() => parseArguments(['--__proto__=1']), /unknown flag --__proto__/)
  t.throws(() => parseArguments(['--constructor=1']), /unknown flag --constructor/)
  t.throws(() => parseArguments(['serve']), /unexpected argument "serve"/)
  for (const word of ['help', 'version']) {
    t.throws(() => parseArguments([word]), { message: `unexpected argument "${word}": did you mean --${word}?` })
  }
  t.throws(
    () => parseArguments(['snapshto', 'file']), { message: 'unexpected argument "snapshto"; did you mean snapshot?' }
  )
  t.throws(
    () => parseArguments(['--data-dir=x', 'fsck']),
    { message: 'unexpected argument "fsck": a command comes before all flags' }
  )
  t.throws(() => parseArguments(['--']), /unexpected argument "--"/)
  t.throws(() => parseArguments(['']), /unexpected argument ""/)
  t.throws(() => parseArguments(['--secure-port']), /--secure-port: needs a value \(int\)/)
  t.throws(() => parseArguments(['--v=1', '-v']), /--v: needs a value \(int\)/)
  t.throws(
    () => parseArguments(['--cert-dir', '--secure-port=1']), /--cert-dir: needs a value \(path\) before --secure-port=1/
  )
})

t.test('an error is one line, whatever the value was', async t => {
  for (const args of [
    ['--etcd-servers=a\nb\u001b[31m'],
    ['--x\ny'],
    ['a\nb'],
    [`--external-hostname=${'x'.repeat(10_000)}`],
    ['--feature-gates=a\nb=true']
  ]) {
    try {
      parseArguments(args)
      t.fail(`accepted ${JSON.stringify(args[0]).slice(0, 40)}`)
    } catch (error) {
      const { message } = error as Error
      // eslint-disable-next-line no-control-regex -- what must not be there
      t.notMatch(message, /[\u0000-\u001f]/)
      t.ok(message.length < 1700)
    }
  }
})
