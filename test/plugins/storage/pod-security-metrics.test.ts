import t from 'tap'
import type { Json } from '../../build.js'
import { MERGE, container, pod, serve } from '../../admission/served.js'

const GROUP = 'pod-security.admission.config.orch.io/v1beta1'
const LABEL = 'pod-security.orch.io/'
const POD_CREATED = 'request_operation="create",resource="pod",subresource=""'
const STRATEGIC = 'application/strategic-merge-patch+json'

const labelled = (name: string, labels: Json): Json => ({
  metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([key, level]) => [LABEL + key, level])) }
})
const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`

t.test('evaluations and exemptions of PodSecurity are counted', async t => {
  const value = {
    apiVersion: GROUP,
    kind: 'PodSecurityConfiguration',
    exemptions: { usernames: ['ann'], runtimeClasses: ['sandboxed'] }
  }
  const served = await serve(t, {
    disabled: ['ServiceAccount', 'RuntimeClass'], configuration: { PodSecurity: { value } }
  })
  const text = (await served.get('/metrics')).body
  for (const name of ['evaluations', 'exemptions', 'errors']) {
    t.match(text, new RegExp(`^# TYPE pod_security_${name}_total counter$`, 'm'))
  }

  await served.made('/api/v1/namespaces', labelled('open', {}))
  await served.made('/api/v1/namespaces', labelled('held', {
    enforce: 'baseline', 'enforce-version': 'v1.23', warn: 'restricted', 'warn-version': 'v1.99', audit: 'baseline'
  }))
  await served.made(podsOf('open'), pod('p'))
  await served.made(podsOf('held'), pod('fine'))
  t.equal((await served.post(podsOf('held'), pod('bad', { hostPID: true }))).code, 403)
  t.equal(
    (await served.as(
      'root', 'PATCH', `${podsOf('held')}/fine/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ name: 'e', securityContext: { privileged: true } })] } }, STRATEGIC
    )).code,
    403
  )
  await served.made('/api/v1/namespaces/held/replicationcontrollers', {
    metadata: { name: 'c' },
    spec: {
      selector: { a: 'b' },
      template: { metadata: { labels: { a: 'b' } }, spec: { hostPID: true, containers: [container()] } }
    }
  })
  t.equal((await served.as('ann', 'POST', podsOf('held'), pod('anns', { hostPID: true }))).code, 201)
  t.equal((await served.post(podsOf('held'), pod('boxed', { runtimeClassName: 'sandboxed' }))).code, 201)
  t.equal(
    (await served.as('root', 'PATCH', `${podsOf('held')}/fine`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200,
    'an update that adds nothing relevant is not evaluated'
  )

  const evaluated = (decision: string, level: string, version: string, mode: string, request: string): string =>
    `pod_security_evaluations_total{decision="${decision}",policy_level="${level}",policy_version="${version}",` +
    `mode="${mode}",${request}} 1`
  const debugged = 'request_operation="update",resource="pod",subresource="ephemeralcontainers"'
  const controller = 'request_operation="create",resource="controller",subresource=""'
  t.same((await served.get('/metrics')).body.split('\n').filter(line => line.startsWith('pod_security_')).sort(), [
    evaluated('allow', 'privileged', 'latest', 'enforce', POD_CREATED),
    evaluated('allow', 'baseline', 'v1.23', 'enforce', POD_CREATED),
    evaluated('deny', 'restricted', 'future', 'warn', POD_CREATED),
    evaluated('deny', 'baseline', 'v1.23', 'enforce', POD_CREATED),
    evaluated('deny', 'baseline', 'latest', 'audit', POD_CREATED),
    evaluated('deny', 'baseline', 'v1.23', 'enforce', debugged),
    evaluated('deny', 'baseline', 'latest', 'audit', debugged),
    evaluated('deny', 'baseline', 'latest', 'audit', controller),
    evaluated('deny', 'restricted', 'future', 'warn', controller),
    `pod_security_exemptions_total{${POD_CREATED}} 2`
  ].sort())
})

t.test('invalid labels from before the plugin was enabled are counted as an error that is not fatal', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const before = await serve(t, { disabled: ['ServiceAccount', 'PodSecurity'] }, { storage })
  await before.made('/api/v1/namespaces', labelled('odd', { audit: 'strict' }))
  await before.close()
  const served = await serve(t, { disabled: ['ServiceAccount'] }, { storage })
  await served.made(podsOf('odd'), pod('p'))
  t.match((await served.get('/metrics')).body, `\npod_security_errors_total{fatal="false",${POD_CREATED}} 1\n`)
})
