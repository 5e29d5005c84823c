/** Several hooks for one request: their order, what each receives, and how their results are combined. */
import t from 'tap'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Json } from '../../build.js'
import type { AuditPolicy } from '../../../schemas/api/audit/policy.js'
import { until } from '../../interop/server.js'
import {
  allow, hookServer, configure, VALIDATING, patching, webhook, MUTATING, CONFIGS, deny, type Answer
} from './hook-server.js'

const label = (name: string) => patching({ op: 'add', path: `/metadata/labels/${name}`, value: 'yes' })
const labels = { metadata: { name: 'c', labels: { first: 'yes' } } }

t.test('mutating webhooks are called in order of name, each with the changes of those before', async t => {
  const order: string[] = []
  const server = await build(t)
  for (const name of ['c', 'a', 'b']) {
    const hook = await hookServer(t)
    hook.answer = (review, ...rest) => {
      order.push(`${name}: ${Object.keys(review.request.object.metadata.labels).join()}`)
      return label(name)(review, ...rest)
    }
    await configure(server, MUTATING, name, webhook(name, hook))
  }
  t.match(await server.post(CONFIGS, labels), {
    code: 201, json: { metadata: { labels: { first: 'yes', a: 'yes', b: 'yes', c: 'yes' } } }
  })
  t.same(order, ['a: first', 'b: a,first', 'c: a,b,first'])
})

t.test('a webhook with reinvocation is called again after a later change, as are the plugins before it', async t => {
  const order: string[] = []
  const server = await build(t, {
    admission: {
      plugins: [
        {
          name: 'own',
          handles: ({ resource }) => resource === 'configmaps',
          mutate: (_request, { round }) => { order.push(`own ${round}`) }
        }
      ]
    }
  })
  const asked = async (name: string, answer: Answer, reinvocationPolicy: string): Promise<void> => {
    const one = await hookServer(t)
    one.answer = (...review) => {
      order.push(name)
      return answer(...review)
    }
    await configure(server, MUTATING, name, webhook(name, one, { reinvocationPolicy }))
  }
  await asked('a', allow, 'IfNeeded')
  await asked('b', allow, 'Never')
  await asked('c', label('c'), 'IfNeeded')
  await asked('d', allow, 'IfNeeded')
  await server.post(CONFIGS, labels)
  t.same(order, ['a', 'b', 'c', 'd', 'own 0', 'a', 'own 1'], 'those before the change that want to be, once')
})

t.test('validating webhooks are called in parallel; of several refusals the first by name is reported', async t => {
  const server = await build(t)
  let waiting = 0
  let allThere = (): void => {}
  const together = new Promise<void>(resolve => { allThere = resolve })
  for (const name of ['b', 'a', 'c']) {
    const hook = await hookServer(t, async (...review) => {
      if (++waiting === 3) allThere()
      await together // no hook answers before all have been called
      return await (name === 'c' ? allow : deny({ message: name, code: 403 }))(...review)
    })
    await configure(server, VALIDATING, name, webhook(name, hook))
  }
  t.match(await server.post(CONFIGS, labels), {
    code: 403, json: { message: 'admission webhook "a.example.com" denied the request: a' }
  })
})

t.test('warnings reach the client, with a refusal too, without duplicates and within bounds', async t => {
  const hook = await hookServer(t, () => ({ allowed: true, warnings: ['take "care"', 'take "care"', 'größer\nals'] }))
  const server = await build(t)
  await configure(server, VALIDATING, 'a', webhook('a', hook))
  t.same((await server.post(CONFIGS, labels)).headers.warning, [
    '299 - "take \\"care\\""', `299 - "${Buffer.from('größer?als').toString('latin1')}"`
  ])
  hook.answer = () => ({ allowed: false, warnings: ['why'] })
  const { code, headers } = await server.post(CONFIGS, { metadata: { name: 'd' } })
  t.match({ code, warning: headers.warning }, { code: 400, warning: ['299 - "why"'] })
  hook.answer = () => ({
    allowed: true, warnings: Array.from({ length: 1000 }, (_, at) => `${at} ${'x'.repeat(1000)}`)
  })
  const many = [(await server.post(CONFIGS, { metadata: { name: 'e' } })).headers.warning].flat()
  t.ok(many.length < 20 && many.join('').length < 6000, 'as much as a header may hold')
})

t.test('the audit log has the annotations and outcomes of webhooks, and no patches', async t => {
  const path = join(mkdtempSync(join(tmpdir(), 'orch-hooks-')), 'audit.log')
  const [hook, gone] = [
    await hookServer(t), await hookServer(t, (_review, reply) => { reply.destroy(); return undefined })
  ]
  hook.answer = (...review) => ({ ...label('a')(...review), auditAnnotations: { seen: 'yes', 'not a/name': 'no' } })
  const server = await build(t, { audit: { path } })
  await configure(server, MUTATING, 'a', webhook('a', hook), webhook('b', gone, { failurePolicy: 'Ignore' }))
  await configure(server, VALIDATING, 'v', webhook('v', gone, { failurePolicy: 'Ignore' }))
  t.equal((await server.post(CONFIGS, labels)).code, 201)
  let annotations: Json = {}
  await until('the event', () =>
    readFileSync(path, 'utf8').split('\n').slice(0, -1).map(line => JSON.parse(line) as Json).some(event => {
      if (event.annotations?.['a.example.com/seen'] === undefined) return false
      annotations = event.annotations
      return true
    }))
  t.match(annotations, {
    'a.example.com/seen': 'yes',
    'mutation.webhook.admission.orch.io/round_0_index_0':
      '{"configuration":"a","webhook":"a.example.com","mutated":true}',
    'mutation.webhook.admission.orch.io/round_0_index_1':
      '{"configuration":"a","webhook":"b.example.com","mutated":false}',
    'failed-open.mutation.webhook.admission.orch.io/round_0_index_1': 'b.example.com',
    'failed-open.validating.webhook.admission.orch.io/round_0_index_0': 'v.example.com'
  })
  t.same(Object.keys(annotations).filter(key => key.includes('not a') || key.startsWith('patch.')), [])
})

t.test('the audit log has patches where the policy logs request bodies', async t => {
  const path = join(mkdtempSync(join(tmpdir(), 'orch-hooks-')), 'audit.log')
  const hook = await hookServer(t, label('a'))
  const server = await build(t, {
    audit: {
      path,
      policy: {
        apiVersion: 'audit.orch.io/v1',
        kind: 'Policy',
        metadata: {},
        rules: [{ level: 'Request', resources: [{ group: '', resources: ['configmaps'] }] }]
      } as unknown as AuditPolicy
    }
  })
  await configure(server, MUTATING, 'a', webhook('a', hook))
  t.equal((await server.post(CONFIGS, labels)).code, 201)
  const patch =
    '{"configuration":"a","webhook":"a.example.com","patch":[{"op":"add","path":"/metadata/labels/a","value":"yes"}],' +
    '"patchType":"JSONPatch"}'
  const logged = (): Json[] =>
    readFileSync(path, 'utf8').split('\n').slice(0, -1).map(line => JSON.parse(line) as Json)
  await until('the patch', () => logged().some(({ annotations }) =>
    annotations?.['patch.webhook.admission.orch.io/round_0_index_0'] === patch))
})

t.test('calls, refusals and ignored failures are counted by webhook', async t => {
  const [hook, gone] = [
    await hookServer(t, deny({ code: 403 })),
    await hookServer(t, (_review, reply) => { reply.destroy(); return undefined })
  ]
  const server = await build(t)
  await configure(server, MUTATING, 'open', webhook('open', gone, { failurePolicy: 'Ignore' }))
  await configure(server, VALIDATING, 'no', webhook('no', hook))
  await server.post(CONFIGS, labels)
  await server.delete(`${VALIDATING}/no`)
  await configure(server, VALIDATING, 'gone', webhook('gone', gone))
  await server.post(CONFIGS, labels)
  const lines = (await server.get('/metrics')).body.split('\n').filter(line =>
    line.startsWith('apiserver_admission_webhook_') && !line.includes('_bucket') && !line.includes('_sum'))
  const [ofGone, ofNo, ofOpen] = [
    'name="gone.example.com",type="validating"', 'name="no.example.com",type="validating"',
    'name="open.example.com",type="admit"'
  ]
  t.same(lines.sort(), [
    `admission_duration_seconds_count{${ofGone},operation="CREATE",rejected="true"} 1`,
    `admission_duration_seconds_count{${ofNo},operation="CREATE",rejected="true"} 1`,
    `admission_duration_seconds_count{${ofOpen},operation="CREATE",rejected="false"} 2`,
    `fail_open_count{${ofOpen}} 2`,
    `rejection_count{${ofGone},operation="CREATE",error_type="calling_webhook_error",rejection_code="400"} 1`,
    `rejection_count{${ofNo},operation="CREATE",error_type="no_error",rejection_code="403"} 1`,
    `request_total{${ofGone},operation="CREATE",code="400",rejected="true"} 1`,
    `request_total{${ofNo},operation="CREATE",code="403",rejected="true"} 1`,
    `request_total{${ofOpen},operation="CREATE",code="400",rejected="false"} 2`
  ].map(line => `apiserver_admission_webhook_${line}`))
})
