import { featureGates } from '../../schemas/gates.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import t from 'tap'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pluginFor, type AdmissionRule, type AdmissionPlugin, type AdmissionRequest } from '../../app.js'
import { events, type Event } from '../../schemas/api/core/events.js'
import { CATALOGUE, loadPlugins } from '../../admission/catalogue.js'
import { handles } from '../../admission/chain.js'
import { OWN_ADMISSION_NAMES } from '../../admission/names.js'
import { badRequest } from '../../schemas/status.js'
import { systemClock } from '../../event-loop/clock.js'
import { BINDINGS, build, binding, type Json } from '../build.js'
import { until } from '../interop/server.js'

t.test('a dry run is refused only where a plugin has side effects outside the object', async t => {
  const done: string[] = []
  const server = await build(t, {
    admission: {
      plugins: [{
        name: 'caller',
        sideEffects: true,
        handles: ({ name }) => name === 'called',
        mutate: ({ operation }) => { done.push(operation) }
      }]
    }
  })
  t.match(await server.post(`${BINDINGS}?dryRun=All`, binding('called')), {
    code: 400, json: { reason: 'BadRequest', message: /"caller" has side effects/ }
  })
  t.strictSame(done, [])
  t.equal((await server.post(`${BINDINGS}?dryRun=All`, binding('other'))).code, 201)
  t.equal((await server.post(BINDINGS, binding('called'))).code, 201)
  t.strictSame(done, ['CREATE'])
})

const CONFIGS = '/api/v1/namespaces/default/configmaps'
type Seen = Pick<AdmissionRequest, 'operation' | 'resource' | 'subresource'>
const asked = (plugin: Pick<AdmissionPlugin, 'handles'>, request: Partial<AdmissionRequest>): boolean =>
  handles(
    { name: 'p', ...plugin },
    { operation: 'CREATE', group: '', resource: 'pods', subresource: '', ...request } as AdmissionRequest
  )

t.test('a plugin is called for the requests its rules match, and no others', async t => {
  const rule = (
    resources: string[] | '*', operations: AdmissionRule['operations'] = '*', groups: string[] | '*' = '*'
  ) => ({ handles: [{ operations, groups, resources }] })
  t.ok(asked(rule(['pods']), {}))
  t.notOk(asked(rule(['pods']), { subresource: 'status' }))
  t.ok(asked(rule(['pods/status']), { subresource: 'status' }))
  t.ok(asked(rule(['pods/*']), { subresource: 'exec' }))
  t.notOk(asked(rule(['pods/*']), {}))
  t.ok(asked(rule(['*/scale']), { subresource: 'scale' }))
  t.ok(asked(rule(['*']), {}))
  t.notOk(asked(rule('*'), { subresource: 'status' }))
  t.ok(asked(rule(['*/*']), { subresource: 'status' }))
  t.notOk(asked(rule(['pods'], ['UPDATE']), {}))
  t.ok(asked(rule(['pods'], ['CONNECT']), { operation: 'CONNECT' }))
  t.notOk(asked(rule(['pods'], '*', ['apps']), {}))
  t.notOk(asked({ handles: [] }, {}))
})

t.test(
  'a write passes defaulting, mutating admission, preparation, validation and validating admission, in this order',
  async t => {
    const seen: Record<string, unknown> = {}
    const server = await build(t, {
      admission: {
        plugins: [{
          name: 'meddler',
          handles: [
            { operations: ['CREATE'], groups: '*', resources: ['namespaces', 'secrets', 'clusterrolebindings'] }
          ],
          mutate: ({ object, resource, name }) => {
            const { type, subjects, metadata } = object as {
              type?: string
              subjects?: Array<{ apiGroup?: string }>
              metadata: Record<string, unknown>
            }
            seen[resource] = { type, apiGroup: subjects?.[0]?.apiGroup, uid: metadata['uid'], name }
            if (resource === 'namespaces') {
              Object.assign(object as object, { status: { phase: 'Terminating' }, spec: { finalizers: [] } })
            }
            metadata['deletionTimestamp'] = '2001-01-01T00:00:00Z'
            metadata['uid'] = 'mine'
          },
          validate: ({ object, resource }) => {
            Object.assign(seen[resource] as object, {
              validated: (object as { metadata: { uid: string } }).metadata.uid
            })
          }
        }]
      }
    })
    const { json: namespace } = await server.post('/api/v1/namespaces', { metadata: { generateName: 'made-' } })
    t.match(namespace, {
      metadata: { deletionTimestamp: undefined, uid: /^[0-9a-f-]{36}$/ },
      status: { phase: 'Active' },
      spec: { finalizers: ['orch'] }
    })
    t.match(
      seen['namespaces'], { name: '', uid: undefined, validated: namespace.metadata.uid },
      'mutating admission runs before the server sets its own fields; validating admission sees what is stored'
    )
    await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } })
    t.match(seen['secrets'], { type: 'Opaque' }, 'defaults are there')
    await server.post(BINDINGS, binding('b'))
    t.match(seen['clusterrolebindings'], { apiGroup: 'rbac.authorization.orch.io' })
  }
)

t.test('a plugin with reinvocation runs once more when a later one has changed the object', async t => {
  const runs: string[] = []
  const plugin = (name: string, reinvocation: boolean, label?: string): AdmissionPlugin => ({
    name,
    reinvocation,
    handles: [{ operations: ['CREATE'], groups: [''], resources: ['configmaps'] }],
    mutate: ({ object }) => {
      runs.push(name)
      const { metadata } = object as { metadata: { labels?: Record<string, string> } }
      if (label !== undefined) metadata.labels = { ...metadata.labels, [label]: 'yes' }
    }
  })
  const server = await build(t, {
    admission: { plugins: [plugin('first', true), plugin('second', true, 'set'), plugin('third', false)] }
  })
  t.match(await server.post(CONFIGS, { metadata: { name: 'a' } }), {
    code: 201, json: { metadata: { labels: { set: 'yes' } } }
  })
  t.same(runs, ['first', 'second', 'third', 'first'], 'whose object has changed since, and that alone')
})

t.test('a plugin for a type gets its objects, other versions of them, other objects, the options, ' +
  'and says what it thinks', async t => {
  const seen: Array<Seen & { options: unknown, note: unknown, other: unknown, listed: number, requested: string }> = []
  const path = join(mkdtempSync(join(tmpdir(), 'orch-admission-')), 'audit.log')
  const server = await build(t, {
    audit: { path },
    admission: {
      plugins: [pluginFor<Event>(events, {
        name: 'events',
        operations: ['CREATE'],
        validate: async (
          { operation, resource, subresource, object, options, convert, reader, annotate, warn, requested }
        ) => {
          const { note } = convert(object as never, 'events.orch.io/v1')
          const listed = await reader.list('', 'configmaps', 'default')
          const other = (await reader.get('', 'configmaps', 'default', 'beside'))?.metadata.name
          seen.push({
            operation,
            resource,
            subresource,
            options,
            note,
            other,
            listed: listed.length,
            requested: `${requested.group}/${requested.version}`
          })
          annotate('events/seen', object?.reason ?? '')
          warn('this was seen')
        }
      })]
    }
  })
  await server.post(CONFIGS, { metadata: { name: 'beside' } })
  const event = {
    metadata: { name: 'e' },
    eventTime: '2026-01-02T03:04:05.678901Z',
    reportingController: 'a',
    reportingInstance: 'b',
    action: 'c',
    reason: 'Seen',
    type: 'Normal',
    note: 'A note.',
    regarding: { namespace: 'default' }
  }
  const { headers, code } = await server.post(
    '/apis/events.orch.io/v1/namespaces/default/events?fieldManager=me', event
  )
  t.equal(code, 201)
  t.match(String(headers.warning), /this was seen/)
  t.same(seen, [
    {
      operation: 'CREATE',
      resource: 'events',
      subresource: '',
      options: { fieldManager: 'me' },
      note: 'A note.',
      other: 'beside',
      listed: 1,
      requested: 'events.orch.io/v1'
    }
  ])
  // An audit log is written after the answer.
  await until('the annotation in the audit log', () => readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .some(line => (JSON.parse(line) as Json).annotations?.['events/seen'] === 'Seen'))
})

const notYet = (): never => { throw new Error('not yet') }
const notes: string[] = []
const resources = new Proxy({}, { get: notYet }) as ResourceRegistry
const tools = {
  clock: systemClock,
  names: OWN_ADMISSION_NAMES,
  gates: featureGates({ MutatingAdmissionPolicy: true, ValidatingAdmissionPolicy: true }),
  resources,
  authorize: notYet,
  tolerationSeconds: { notReady: 1, unreachable: 1 },
  callers: {
    webhooks: async () => ({
      resources,
      caller: { call: notYet, retain: notYet },
      metrics: { called: notYet, rejected: notYet, failedOpen: notYet },
      failed: notYet
    }),
    reviewer: notYet
  },
  note: (text: string) => { notes.push(text) }
}

t.test('the catalogue is what flags take, and its order is that in which plugins run', async t => {
  t.equal(new Set(CATALOGUE.map(({ name }) => name)).size, CATALOGUE.length)
  const names = CATALOGUE.map(({ name }) => name)
  const on = CATALOGUE.filter(entry => entry.default).map(({ name }) => name)
  t.ok([
    'NamespaceLifecycle', 'LimitRanger', 'ServiceAccount', 'PodSecurity', 'Priority'
  ].every(name => on.includes(name)))
  const there = on.filter(name =>
    CATALOGUE.every(entry => entry.name !== name || entry.gate === undefined || tools.gates.enabled(entry.gate)))
  t.same((await loadPlugins({}, tools)).map(({ name }) => name), there)
  t.same(notes, [])
  t.same(
    (await loadPlugins(
      { enabled: ['NodeRestriction', 'AlwaysAdmit'], disabled: names.filter(name => name !== 'LimitRanger') }, tools
    )).map(({ name }) => name),
    ['AlwaysAdmit', 'LimitRanger', 'NodeRestriction'],
    'whatever the order of the flags'
  )
  t.match(notes, [/AlwaysAdmit is deprecated/])
})

t.test('where release 1.36 is emulated the order is that of its plugins, and those that went are refused', async t => {
  const { admission: { order, gone } } = JSON.parse(readFileSync(
    new URL('../../../test/facts/1.36/admission.json', import.meta.url), 'utf8'
  )) as { admission: { order: Array<{ name: string }>, gone: Array<{ name: string }> } }
  const later = { ...tools, gates: featureGates({}, { release: '1.36' }) }
  const names = CATALOGUE.map(({ name }) => name)
  t.same(
    names.filter(name => !gone.some(entry => entry.name === name)),
    order.map(({ name }) => name).filter(name => names.includes(name))
  )
  for (const { name } of gone) {
    await t.rejects(loadPlugins({ enabled: [name] }, later), {
      message: new RegExp(`the admission plugin ${name} went with release 1`)
    })
  }
})

t.test('a configuration that no plugin uses is refused', async t => {
  await t.rejects(
    loadPlugins({ configuration: { Nope: { value: {} } } }, tools),
    { message: /plugin Nope is wrong: there is no such plugin/ }
  )
  await t.rejects(
    loadPlugins({ configuration: { NamespaceLifecycle: { value: {} } } }, tools),
    { message: /plugin NamespaceLifecycle is wrong: the plugin takes none/ }
  )
})

t.test('admission decisions are counted by plugin and in total', async t => {
  const picky: AdmissionPlugin = {
    name: 'Picky',
    handles: [{ operations: ['CREATE'], groups: ['rbac.authorization.orch.io'], resources: ['clusterrolebindings'] }],
    mutate: () => {},
    validate: ({ name }) => { if (name === 'bad') throw badRequest('bad') }
  }
  const server = await build(t, { admission: { plugins: [picky] } })
  t.equal((await server.post(BINDINGS, binding('good'))).code, 201)
  t.equal((await server.post(BINDINGS, binding('bad'))).code, 400)
  const { body } = await server.get('/metrics')
  for (const [line, count] of [
    ['name="Picky",operation="CREATE",rejected="false",type="admit"', 2],
    ['name="Picky",operation="CREATE",rejected="false",type="validate"', 1],
    ['name="Picky",operation="CREATE",rejected="true",type="validate"', 1]
  ] as const) {
    t.ok(body.includes(`apiserver_admission_controller_admission_duration_seconds_count{${line}} ${count}\n`), line)
  }
  t.ok(body.includes(
    'apiserver_admission_step_admission_duration_seconds_count{type="validate",operation="CREATE",rejected="true"} 1\n'
  ))
})
