/** The file that `--tracing-config-file` names. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tracingOptions } from '../../config/tracing.js'

const FILE = join(t.testdir(), 'tracing.yaml')
const HEAD = 'apiVersion: apiserver.config.orch.io/v1alpha1\nkind: TracingConfiguration\n'

function read (text: string) {
  writeFileSync(FILE, text)
  return tracingOptions({ flag: 'tracing-config-file', path: FILE })
}

t.test('the tracing configuration sets the endpoint and the sampling rate', async t => {
  for (const version of ['v1', 'v1beta1']) t.strictSame(read(HEAD.replace('v1alpha1', version)), read(HEAD), version)
  t.strictSame(read(HEAD), { receiver: { endpoint: undefined, samplingRatePerMillion: undefined } })
  t.strictSame(
    read(`${HEAD}endpoint: collector:4317\nsamplingRatePerMillion: 100\n`),
    { receiver: { endpoint: 'collector:4317', samplingRatePerMillion: 100 } }
  )
  t.strictSame(
    read(JSON.stringify({
      apiVersion: 'apiserver.config.orch.io/v1alpha1', kind: 'TracingConfiguration', samplingRatePerMillion: 1_000_000
    })).receiver?.samplingRatePerMillion,
    1_000_000
  )
})

t.test('an endpoint is a name of gRPC', async t => {
  const address = (endpoint: string): string | undefined =>
    read(`${HEAD}endpoint: ${JSON.stringify(endpoint)}\n`).receiver?.endpoint
  for (const [endpoint, expected] of [
    ['localhost:4317', 'localhost:4317'], ['localhost', 'localhost'], ['10.0.0.1:1', '10.0.0.1:1'],
    ['[::1]:65535', '[::1]:65535'], ['dns:///host.example:4317', 'host.example:4317'],
    ['dns:host:4317', 'host:4317'], ['unix:///run/otel.sock', 'unix:///run/otel.sock'],
    ['unix:/run/otel.sock', 'unix:///run/otel.sock']
  ] as const) t.equal(address(endpoint), expected, endpoint)
  for (const [endpoint, why] of [
    ['', 'must have a host and a port'], ['localhost:0', 'must have a host and a port'],
    ['localhost:65536', 'must have a host and a port'],
    ['user@host:1', 'must have a host and a port'], ['host:1/path', 'must have a host and a port'],
    ['dns:///', 'must have a host and a port'], ['a b:1', 'must have a host and a port'],
    ['dns://8.8.8.8/host:1', 'names a server of names'], ['unix-abstract:x', 'abstract socket'],
    ['unix-abstract:///x', 'abstract socket'], ['unix://x', 'must have the path of a socket'],
    [
      'http://localhost:4317',
      'unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See ' +
      'https://github.com/grpc/grpc/blob/master/doc/naming.md'
    ],
    ['//x', 'unsupported scheme: .']
  ] as const) {
    t.throws(
      () => address(endpoint),
      {
        message: new RegExp(`^--tracing-config-file=.*endpoint: .*${why.replaceAll('.', '\\.').replaceAll('/', '\\/')}`)
      },
      endpoint
    )
  }
})

t.test('an error in the tracing configuration names the flag, the file and the field', async t => {
  for (const [text, why] of [
    ['', 'it is not an object'],
    [
      'kind: TracingConfiguration\n',
      'it needs kind and apiVersion: TracingConfiguration of apiserver.config.orch.io/v1 or'
    ],
    [HEAD.replace('v1alpha1', 'v2'), 'it is TracingConfiguration of apiserver.config.orch.io/v2, not'],
    [
      `${HEAD}samplingRatePerMillion: -1\n`, 'samplingRatePerMillion: Invalid value: -1: sampling rate must be positive'
    ],
    [
      `${HEAD}samplingRatePerMillion: 1000001\n`,
      'samplingRatePerMillion: Invalid value: 1000001: ' +
      'sampling rate per million must be less than or equal to one million'
    ],
    [`${HEAD}samplingRatePerMillion: some\n`, 'samplingRatePerMillion'],
    [`${HEAD}samplingRate: 1\n`, 'unknown field "samplingRate"'],
    [`${HEAD}endpoint: a:1\nendpoint: b:1\n`, 'duplicate field "endpoint"'],
    [`${HEAD}endpoint: {}\n`, 'endpoint']
  ] as const) {
    t.throws(
      () => read(text),
      { message: new RegExp(`^--tracing-config-file=${FILE.replaceAll('.', '\\.')}: .*${why.replaceAll('.', '\\.')}`) },
      why
    )
  }
  t.throws(
    () => tracingOptions({ flag: 'tracing-config-file', path: '/nowhere/tracing.yaml' }),
    { message: /^--tracing-config-file=\/nowhere\/tracing\.yaml: / }
  )
})
