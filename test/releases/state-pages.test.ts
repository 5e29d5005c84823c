/** What operators of 1.36 ask a server about itself. */
import t from 'tap'
import { parseArguments } from '../../config/command-line.js'
import { shownFlags } from '../../config/shown-flags.js'
import { build } from '../build.js'

const LATER = { emulatedVersion: '1.36' } as const
const FLAGS = { 'secure-port': '6443', 'feature-gates': 'AllAlpha=false' }
const PAGES = ['/flagz', '/metrics/slis', '/statusz']
const document = (kind: string, version = 'v1beta1', type = 'json', group = 'config.orch.io'): Record<string, string> =>
  ({ accept: `application/${type};v=${version};g=${group};as=${kind}` })

t.test(
  'they are listed and served under 1.36, with flags alone, and not under 1.24 or without their gates', async t => {
    const paths = async (options: object): Promise<string[]> => {
      const server = await build(t, options)
      const listed = (await server.get('/')).json['paths'] as string[]
      const found: string[] = []
      for (const path of PAGES) if ((await server.get(path)).code === 200) found.push(path)
      t.same(listed.filter(path => PAGES.includes(path)), found, 'what is listed is served')
      return found
    }
    t.same(await paths({ ...LATER, flags: FLAGS }), PAGES)
    t.same(await paths({ ...LATER }), ['/metrics/slis', '/statusz'])
    t.same(
      await paths({ ...LATER, flags: FLAGS, featureGates: { ComponentStatusz: false, ComponentFlagz: false } }),
      ['/metrics/slis']
    )
    t.same(await paths({ flags: FLAGS }), [])
  }
)

t.test('statusz is text for people and a document for who asks for it', async t => {
  const server = await build(t, { ...LATER, flags: FLAGS })
  for (const accept of [undefined, '*/*', 'text/plain', 'application/json;q=0.5,text/*']) {
    const { code, body, headers } = await server.get('/statusz', accept === undefined ? {} : { accept })
    t.equal(code, 200)
    t.equal(headers['content-type'], 'text/plain; charset=utf-8')
    t.match(body, /^\norch-apiserver statusz\nWarning: .*\n\nStarted: .* GMT\nUp: 0 hr 00 min \d\d sec\n/)
    t.match(body, /\nPaths: \/flagz \/healthz \/livez \/metrics \/metrics\/slis \/readyz \/statusz \/version\n$/)
  }
  const { json, headers } = await server.get('/statusz', document('Statusz'))
  t.match(headers['content-type'], /^application\/json/)
  t.strictSame(Object.keys(json), [
    'kind', 'apiVersion', 'metadata', 'startTime', 'uptimeSeconds', 'goVersion', 'binaryVersion', 'emulationVersion',
    'paths'
  ])
  t.match(json, {
    kind: 'Statusz',
    apiVersion: 'config.orch.io/v1beta1',
    metadata: { name: 'orch-apiserver' },
    startTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    emulationVersion: '1.36'
  })
  const yaml = await server.get('/statusz', document('Statusz', 'v1beta1', 'yaml'))
  t.match(yaml.headers['content-type'], /^application\/yaml/)
  t.match(yaml.body, /^kind: Statusz$/m)
  const old = await server.get('/statusz', document('Statusz', 'v1alpha1'))
  t.equal(old.json['apiVersion'], 'config.orch.io/v1alpha1')
  t.match(old.headers['warning'], /deprecated.*v1beta1/)
  const stock = await server.get('/statusz', document('Statusz', 'v1beta1', 'json', 'config.k8s.io'))
  t.equal(stock.json['apiVersion'], 'config.k8s.io/v1beta1')
  for (const wrong of [
    'application/json', 'application/json;v=v2;g=config.orch.io;as=Statusz', 'image/png',
    document('Flagz')['accept'] ?? ''
  ]) {
    t.match(
      await server.get('/statusz', { accept: wrong }), { code: 406, json: { kind: 'Status', reason: 'NotAcceptable' } },
      wrong
    )
  }
})

t.test('flagz shows each flag with the value that applies, and no secret', async t => {
  const parsed = parseArguments([
    '--secure-port=7443', '--service-account-issuer=https://one', '--service-account-issuer=https://two',
    '--token-auth-file=/etc/tokens.csv', '--runtime-config=api/beta=false', '--runtime-config=api/alpha=false'
  ])
  const flags = shownFlags({ ...parsed, values: { ...parsed.values, 'etcd-servers': ['https://user:pass@one:2379'] } })
  t.match(flags, {
    'secure-port': '7443', 'service-account-issuer': '[https://one,https://two]', 'etcd-servers': 'CLASSIFIED',
    'token-auth-file': '/etc/tokens.csv', 'anonymous-auth': 'true', 'request-timeout': '1m0s',
    'runtime-config': 'api/beta=false,api/alpha=false'
  })
  const server = await build(t, { ...LATER, flags })
  const { body } = await server.get('/flagz')
  t.match(body, /^\norch-apiserver flagz\nWarning: .*\n\n/)
  t.same(body.split('\n').slice(4, -1), Object.entries(flags).map(([name, value]) => `${name}=${value}`))
  t.match((await server.get('/flagz', document('Flagz'))).json, {
    kind: 'Flagz', apiVersion: 'config.orch.io/v1beta1', metadata: { name: 'orch-apiserver' }, flags
  })
})

t.test(
  '/metrics/slis has the outcomes of the checks that probes ask for, by endpoint, and /metrics has not', async t => {
    const server = await build(t, LATER)
    await server.get('/livez')
    await server.get('/livez?exclude=etcd')
    const { body, headers } = await server.get('/metrics/slis')
    t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
    t.match(body, /^# HELP kubernetes_healthcheck \[STABLE\] /m)
    t.match(body, /^kubernetes_healthcheck\{name="ping",type="livez"\} 1$/m)
    t.match(body, /^kubernetes_healthchecks_total\{name="ping",status="success",type="livez"\} 2$/m)
    t.match(
      body, /^kubernetes_healthchecks_total\{name="etcd",status="success",type="livez"\} 1$/m, 'not what is left out'
    )
    t.match(body, /^kubernetes_healthcheck\{name="shutdown",type="readyz"\} 1$/m)
    t.notMatch(body, /type="healthz"/)
    t.match(body, /^process_start_time_seconds \d/m)
    t.same([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name).sort(), [
      'kubernetes_healthcheck', 'kubernetes_healthchecks_total', 'process_start_time_seconds'
    ])
    t.notMatch((await server.get('/metrics')).body, /kubernetes_healthcheck/)
  }
)

t.test('they need permission, which system:monitoring has', async t => {
  const server = await build(t, {
    ...LATER, flags: FLAGS, authorization: { modes: ['RBAC'] },
    authentication: { tokens: 'ann,ann,1\nmonitor,monitor,2,system:monitoring\n' }
  })
  for (const [token, expected] of [['ann', 403], ['monitor', 200]] as const) {
    for (const path of PAGES) {
      t.equal((await server.get(path, { authorization: `Bearer ${token}` })).code, expected, `${token} ${path}`)
    }
  }
})

t.test('checks have the names that probes of 1.36 ask for, and can be left out by them', async t => {
  const server = await build(t, LATER)
  const names = async (path: string): Promise<string[]> =>
    [...(await server.get(`${path}?verbose`)).body.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name = '']) => name)
  for (const path of ['/livez', '/healthz']) {
    const all = await names(path)
    for (const name of ['ping', 'log', 'etcd', 'poststarthook/storage-readiness']) {
      t.ok(all.includes(name), `${path} ${name}`)
    }
    t.notOk(all.includes('etcd-readiness'), path)
  }
  const ready = await names('/readyz')
  for (const name of ['etcd', 'etcd-readiness', 'informer-sync', 'poststarthook/storage-readiness', 'shutdown']) {
    t.ok(ready.includes(name), name)
  }
  t.match((await server.get('/readyz?verbose&exclude=etcd-readiness')).body, /^\[\+\]etcd-readiness excluded: ok$/m)
  t.match(await server.get('/readyz/etcd-readiness'), { code: 200, body: 'ok' })
})
