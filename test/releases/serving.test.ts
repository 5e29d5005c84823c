/** What is served, and what the server says of itself, where either release is emulated. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { checkedFlags, configuration } from '../../config/options.js'
import { build, type Json } from '../build.js'
import { create, later, title, urlOf } from '../conformance/collections.js'

interface Lifecycle {
  group: string
  version: string
  resource: string
  servedIn124: boolean
  servedIn136: boolean
  enabledByDefaultIn136: boolean
}
const { resources } = JSON.parse(readFileSync(
  new URL('../../../test/facts/1.36/lifecycle.json', import.meta.url), 'utf8'
)) as { resources: Lifecycle[] }
const names = (of: (one: Lifecycle) => boolean) =>
  resources.filter(of).map(({ group, version, resource }) => `${group}/${version}/${resource}`).toSorted()

async function served (emulatedVersion: '1.24' | '1.36'): Promise<string[]> {
  const server = await build(t, { emulatedVersion })
  const lists: Array<readonly [string, string, Json]> = [['', 'v1', (await server.get('/api/v1')).json]]
  for (const group of (await server.get('/apis')).json['groups'] as Json[]) {
    for (const { groupVersion, version } of group['versions'] as Json[]) {
      lists.push([group['name'] as string, version as string, (await server.get(`/apis/${String(groupVersion)}`)).json])
    }
  }
  return lists.flatMap(([group, version, { resources }]) => (resources as Json[]).map(({ name }) => String(name))
    .filter(name => !name.includes('/')).map(name => `${group}/${version}/${name}`)).toSorted()
}

/** Not built yet, and what is served in place of some of it. */
const MISSING = new Set([
  'admissionregistration.orch.io/v1/mutatingadmissionpolicies',
  'admissionregistration.orch.io/v1/mutatingadmissionpolicybindings'
])
const OWN = ['apiextensions.orch.io/v1/customresourcedefinitions', 'apiregistration.orch.io/v1/apiservices']

t.test('each release serves its versions', async t => {
  t.same((await served('1.24')).filter(name =>
    !OWN.includes(name)), names(({ servedIn124, version }) => servedIn124 && !version.includes('alpha'))
    .filter(name => !OWN.includes(name)))
  t.same((await served('1.36')).filter(name => !OWN.includes(name) && !MISSING.has(name)),
    names(({ enabledByDefaultIn136 }) => enabledByDefaultIn136).filter(name =>
      !MISSING.has(name) && !OWN.includes(name)))
})

t.test('a server says which release it emulates', async t => {
  const later = (await (await build(t, { emulatedVersion: '1.36' })).get('/version')).json
  t.match(later, {
    major: '1',
    minor: '36',
    gitVersion: /^v1\.36\.0\+/,
    emulationMajor: '1',
    emulationMinor: '36',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35'
  })
  const earlier = (await (await build(t)).get('/version')).json
  t.match(earlier, { major: '1', minor: '24', gitVersion: /^v1\.24\.0\+/ })
  t.notOk('emulationMajor' in earlier)
})

t.test('public names alone bring the release of today, and the flag says otherwise', async t => {
  const release = async (...flags: string[]) => {
    const { options: { compatNames = false, emulatedVersion } } = await configuration(checkedFlags([
      `--data-dir=${t.testdir()}/data`, ...flags
    ]))
    t.equal(
      (await (await build(t, {
        compatNames, ...emulatedVersion === undefined ? {} : { emulatedVersion }
      })).get('/version')).json['minor'],
      emulatedVersion?.slice(2)
    )
    return emulatedVersion
  }
  t.equal(await release(), '1.24')
  t.equal(await release('--compat-names'), '1.36')
  t.equal(await release('--compat-names=false'), '1.24')
  t.equal(await release('--compat-names', '--emulated-version=1.24'), '1.24')
  t.equal((await (await build(t, { compatNames: true })).get('/version')).json['minor'], '36', 'for a host too')
  t.equal((await (await build(t, { compatNames: true, emulatedVersion: '1.24' })).get('/version')).json['minor'], '24')
  t.throws(() => checkedFlags(['--compat-names', '--cloud-provider=external']), /went with release 1.33/)
})

t.test('a server says which releases can read what it stores', async t => {
  const server = await build(t, { emulatedVersion: '1.36', minCompatibilityVersion: '1.34' })
  t.match((await server.get('/version')).json, {
    emulationMinor: '36', minCompatibilityMajor: '1', minCompatibilityMinor: '34'
  })
  const text = (await server.get('/metrics')).body
  t.match(text, /^version_info\{binary="1\.36",component="orch",emulation="1\.36",min_compat="1\.34"\} 1$/m)
  t.match(text, /^kubernetes_feature_enabled\{name="WatchList",stage="BETA"\} 1$/m)
  t.match(text, /^kubernetes_feature_enabled\{name="SidecarContainers",stage=""\} 1$/m)
  t.match(text, /^kubernetes_feature_enabled\{name="KMSv1",stage="DEPRECATED"\} 0$/m)
  t.notMatch((await (await build(t)).get('/metrics')).body, /^(version_info|kubernetes_feature_enabled)/m)
  await t.rejects(build(t, { minCompatibilityVersion: '1.36' }), {
    message: /^minCompatibilityVersion: .*must be 1\.24/
  })
})

const fromFlags = async (...flags: string[]) => {
  const { options: { api = {}, emulatedVersion } } = await configuration(checkedFlags([
    `--data-dir=${t.testdir()}/data`, ...flags
  ]))
  return await build(t, { api, ...(emulatedVersion === undefined ? {} : { emulatedVersion }) })
}

t.test('more stable versions of later releases are served where that is asked for', async t => {
  const path = '/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations'
  t.equal((await (await fromFlags()).get(path)).code, 404)
  t.equal(
    (await (await fromFlags(
      '--emulation-forward-compatible', '--runtime-config=flowcontrol.apiserver.orch.io/v1=false'
    )).get(path)).code,
    404
  )
  const server = await fromFlags('--emulation-forward-compatible')
  const level = {
    metadata: { name: 'later' },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 7, limitResponse: { type: 'Reject' } } }
  }
  t.match((await server.post(path, level)).json, { apiVersion: 'flowcontrol.apiserver.orch.io/v1', spec: level.spec })
  t.match((await server.get(`${path.replace('v1/', 'v1beta2/')}/later`)).json, {
    spec: { limited: { assuredConcurrencyShares: 7 } }
  })
})

t.test('APIs that went are refused by name, unless they are switched off', async t => {
  const start = async (...flags: string[]) =>
    await configuration(checkedFlags([`--data-dir=${t.testdir()}/data`, '--emulated-version=1.36', ...flags]))
  await t.rejects(start('--runtime-config=policy/v1beta1=true'), /policy\/v1beta1 went with release 1\.2[56]/)
  await t.rejects(start('--runtime-config=batch/v1beta1/cronjobs'), /batch\/v1beta1\/cronjobs went with release 1\.25/)
  await t.resolves(start('--runtime-config=policy/v1beta1=false,storage.orch.io/v1beta1=true'))
  await t.resolves(configuration(checkedFlags([
    `--data-dir=${t.testdir()}/data`, '--runtime-config=policy/v1beta1=true'
  ])))
})

t.test('APIs of later releases are served where they are named', async t => {
  const path = '/apis/storage.orch.io/v1/volumeattributesclasses'
  const server = await fromFlags(
    '--runtime-config-emulation-forward-compatible', '--runtime-config=storage.orch.io/v1/volumeattributesclasses=true'
  )
  const made = { metadata: { name: 'fast' }, driverName: 'csi.example', parameters: { iops: '5' } }
  t.match((await server.post(path, made)).json, made)
  t.match((await server.get(`${path}/fast`)).json, made)
  t.equal((await server.get('/apis/flowcontrol.apiserver.orch.io/v1')).code, 404)
})

t.test('discovery fills singular names, and metrics have their stability', async t => {
  for (const [emulatedVersion, singular, level] of [['1.24', '', 'ALPHA'], ['1.36', 'configmap', 'BETA']] as const) {
    const server = await build(t, { emulatedVersion })
    const { resources } = (await server.get('/api/v1')).json as { resources: Json[] }
    t.equal(resources.find(({ name }) => name === 'configmaps')?.['singularName'], singular)
    t.equal(resources.find(({ name }) => name === 'pods/log')?.['singularName'], '')
    const { body } = await server.get('/metrics')
    t.match(body, `# HELP workqueue_depth [${level}] `)
    t.match(body, '# HELP apiserver_request_total [STABLE] ')
  }
})

t.test('Endpoints are deprecated where that is known', async t => {
  for (const [emulatedVersion, warnings] of [
    ['1.24', undefined],
    ['1.36', ['299 - "v1 Endpoints is deprecated in v1.33+; use discovery.orch.io/v1 EndpointSlice"']]
  ] as const) {
    t.same((await (await build(t, { emulatedVersion })).get('/api/v1/endpoints')).headers['warning'], warnings)
  }
})

t.test('the latest pod security standard is that of the release', async t => {
  for (const [emulatedVersion, code] of [['1.24', 201], ['1.36', 403]] as const) {
    const server = await build(t, { emulatedVersion })
    await server.post('/api/v1/namespaces', {
      metadata: { name: 'a', labels: { 'pod-security.orch.io/enforce': 'baseline' } }
    })
    const livenessProbe = { httpGet: { port: 1, host: 'elsewhere' } }
    t.equal(
      (await server.post('/api/v1/namespaces/a/pods', {
        metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i', livenessProbe }] }
      })).code,
      code
    )
    await server.post('/api/v1/namespaces', {
      metadata: {
        name: 'b',
        labels: { 'pod-security.orch.io/enforce': 'baseline', 'pod-security.orch.io/enforce-version': 'v1.33' }
      }
    })
    t.equal(
      (await server.post('/api/v1/namespaces/b/pods', {
        metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i', livenessProbe }] }
      })).code,
      201
    )
  }
})

t.test('tables have the columns of the release, and rows are counted as it does', async t => {
  const AS_TABLE = 'application/json;as=Table;g=meta.orch.io;v=v1'
  const columns = async (emulatedVersion: '1.24' | '1.36', path: string) => {
    const server = await build(t, { emulatedVersion })
    return ((await server.get(path, { accept: AS_TABLE })).json['columnDefinitions'] as Json[]).map(({ name }) => name)
  }
  t.same(await columns('1.24', '/apis/scheduling.orch.io/v1/priorityclasses'), [
    'Name', 'Value', 'Global-Default', 'Age'
  ])
  t.same(await columns('1.36', '/apis/scheduling.orch.io/v1/priorityclasses'), [
    'Name', 'Value', 'Global-Default', 'Age', 'PreemptionPolicy'
  ])
  const server = await build(t, { emulatedVersion: '1.36' })
  const container = { name: 'c', image: 'i' }
  const pods = '/api/v1/namespaces/default/pods'
  await server.post(pods, {
    metadata: { name: 'a' },
    spec: { containers: [container], initContainers: [{ ...container, name: 's', restartPolicy: 'Always' }] }
  })
  const cells = async () => (((await server.get(
    `${pods}/a`, { accept: AS_TABLE }
  )).json['rows'] as Json[])[0]?.['cells'] as unknown[]).slice(1, 4)
  t.same(await cells(), ['0/2', 'Pending', '0'])
  const state = { running: {} }
  const running = (name: string, more: Json = {}): Json => ({
    name, image: 'i', imageID: '', ready: true, restartCount: 1, state, ...more
  })
  await server.patch(
    `${pods}/a/status`,
    {
      status: {
        phase: 'Running', initContainerStatuses: [running('s', { started: true })], containerStatuses: [running('c')]
      }
    },
    'application/merge-patch+json'
  )
  t.same(await cells(), ['2/2', 'Running', '2'])
  await server.post(pods, {
    metadata: { name: 'g' }, spec: { containers: [container], schedulingGates: [{ name: 'x' }] }
  })
  t.match(((await server.get(`${pods}/g`, { accept: AS_TABLE })).json['rows'] as Json[])[0]?.['cells'], [
    'g', '0/1', 'SchedulingGated'
  ])
  t.same(
    ((await server.get(
      '/api/v1/services?fieldSelector=spec.clusterIP!=None,spec.type=ClusterIP'
    )).json['items'] as Json[]).length,
    0
  )
})

t.test('kinds of a later release are created, listed and deleted', async t => {
  t.ok(later.length > 0)
  const server = await build(t, {
    emulatedVersion: '1.36',
    api: { disabled: [] },
    featureGates: { StorageVersionMigrator: true, DRADeviceTaintRules: true }
  })
  // Their samples are of a version that this release does not serve; they have tests of their own.
  for (const one of later.filter(({ group }) => group !== 'flowcontrol.apiserver.orch.io')) {
    const made = await create(server, one)
    const { name } = made['metadata'] as { name: string }
    t.ok(
      ((await server.get(urlOf(one))).json['items'] as Json[]).some(({ metadata }) =>
        (metadata as Json)['name'] === name),
      title(one)
    )
    const { json } = await server.get(`${urlOf(one)}/${name}`)
    t.equal((await server.put(`${urlOf(one)}/${name}`, json)).code, 200, title(one))
    t.equal((await server.call('DELETE', `${urlOf(one)}/${name}`)).code, 200, title(one))
  }
})
