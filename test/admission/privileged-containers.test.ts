/** Interface, `--allow-privileged`. */
import t from 'tap'
import { checkedFlags, configuration } from '../../config/options.js'
import { build, type Json } from '../build.js'

const container = (privileged: boolean): Json => ({ name: 'c', image: 'i', securityContext: { privileged } })
const spec = (privileged: boolean, more: Json = {}): Json => ({ containers: [container(privileged)], ...more })
const template = (privileged: boolean, restartPolicy = 'Always'): Json => ({
  metadata: { labels: { a: 'b' } }, spec: spec(privileged, { restartPolicy })
})
const selector = { matchLabels: { a: 'b' } }

/** Every kind of the release that contains pods, and the URL of its objects. */
const KINDS: ReadonlyArray<readonly [string, string, (privileged: boolean) => Json]> = [
  ['/api/v1', 'pods', privileged => ({ spec: spec(privileged) })],
  ['/api/v1', 'podtemplates', privileged => ({ template: template(privileged) })],
  [
    '/api/v1', 'replicationcontrollers',
    privileged => ({ spec: { selector: { a: 'b' }, template: template(privileged) } })
  ],
  ...['deployments', 'replicasets', 'daemonsets'].map(plural => [
    '/apis/apps/v1', plural, (privileged: boolean) => ({ spec: { selector, template: template(privileged) } })
  ] as const),
  [
    '/apis/apps/v1', 'statefulsets',
    privileged => ({ spec: { selector, serviceName: 's', template: template(privileged) } })
  ],
  ['/apis/batch/v1', 'jobs', privileged => ({ spec: { template: template(privileged, 'Never') } })],
  [
    '/apis/batch/v1',
    'cronjobs',
    privileged => ({
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template(privileged, 'Never') } } }
    })
  ],
  [
    '/apis/batch/v1beta1',
    'cronjobs',
    privileged => ({
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template(privileged, 'Never') } } }
    })
  ]
]
const AT: Readonly<Record<string, string>> = {
  pods: 'spec', podtemplates: 'template.spec', cronjobs: 'spec.jobTemplate.spec.template.spec'
}

t.test('without the option privileged containers are refused in every kind, by field', async t => {
  const server = await build(t, { allowPrivileged: false })
  for (const [root, plural, make] of KINDS) {
    const url = `${root}/namespaces/default/${plural}`
    const name = root.endsWith('beta1') ? 'old' : 'a'
    t.match(
      await server.post(url, { metadata: { name }, ...make(true) }),
      {
        code: 422,
        json: {
          details: {
            causes: [
              {
                reason: 'FieldValueForbidden',
                field: `${AT[plural] ?? 'spec.template.spec'}.containers[0].securityContext.privileged`,
                message: /disallowed by cluster policy/
              }
            ]
          }
        }
      },
      url
    )
    t.equal((await server.post(url, { metadata: { name }, ...make(false) })).code, 201, url)
  }
  const changed = await server.patch('/apis/apps/v1/namespaces/default/deployments/a', {
    spec: { template: { spec: spec(true) } }
  })
  t.equal(changed.code, 422, 'nor after an update')
})

t.test('privileged containers are a finding of validation, before other plugins refuse', async t => {
  const server = await build(t, { allowPrivileged: false })
  await server.post('/api/v1/namespaces', {
    metadata: { name: 'held', labels: { 'pod-security.orch.io/enforce': 'restricted' } }
  })
  t.match(
    await server.post('/api/v1/namespaces/held/pods', { metadata: { name: 'p' }, spec: spec(true) }),
    { code: 422, json: { reason: 'Invalid' } }
  )
})

t.test('init and ephemeral containers count too', async t => {
  const server = await build(t, { allowPrivileged: false })
  const pods = '/api/v1/namespaces/default/pods'
  t.match(
    (await server.post(pods, {
      metadata: { name: 'p' }, spec: spec(false, { initContainers: [{ ...container(true), name: 'i' }] })
    })).json.details.causes,
    [{ field: 'spec.initContainers[0].securityContext.privileged' }]
  )
  await server.post(pods, { metadata: { name: 'p' }, spec: spec(false) })
  const debug = await server.patch(`${pods}/p/ephemeralcontainers`, {
    spec: { ephemeralContainers: [{ ...container(true), name: 'd' }] }
  })
  t.match(
    [debug.code, debug.json.details.causes],
    [422, [{ field: 'spec.ephemeralContainers[0][0].securityContext.privileged' }]]
  )
  const later = await build(t, { allowPrivileged: false, emulatedVersion: '1.36' })
  await later.post(pods, { metadata: { name: 'p' }, spec: spec(false) })
  const refused = await later.patch(
    `${pods}/p/ephemeralcontainers`, { spec: { ephemeralContainers: [{ ...container(true), name: 'd', image: '' }] } }
  )
  t.strictSame(
    refused.json.details.causes.map(({ field }: Json) => field),
    ['spec.ephemeralContainers[0].securityContext.privileged', 'spec.ephemeralContainers[0].image'],
    'with what else is wrong'
  )
})

t.test('host process containers are refused too', async t => {
  const server = await build(t, { allowPrivileged: false })
  const windows = (hostProcess: boolean) => server.post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: spec(false, { hostNetwork: true, securityContext: { windowsOptions: { hostProcess } } })
  })
  t.match((await windows(true)).json.details.causes, [
    {
      reason: 'FieldValueForbidden',
      field: 'spec',
      message: 'Forbidden: hostProcess containers are disallowed by cluster policy'
    }
  ])
  t.equal((await windows(false)).code, 201)
})

t.test('the flag allows them; a host sets an option', async t => {
  const allowed = async (...flags: string[]) =>
    (await configuration(checkedFlags([`--data-dir=${t.testdir()}`, ...flags]))).options.allowPrivileged
  t.same([await allowed(), await allowed('--allow-privileged')], [false, true])
  for (const options of [{}, { allowPrivileged: true }]) {
    const server = await build(t, options)
    t.equal(
      (await server.post('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: spec(true) })).code, 201
    )
  }
})
