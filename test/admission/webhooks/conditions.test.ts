/** Match conditions of webhooks: which requests they leave out, and what one that fails means. */
import t from 'tap'
import { build } from '../../build.js'
import {
  allow, configure, CONFIGS, hookServer, MUTATING, ON_CONFIGS, patching, VALIDATING, webhook
} from './hook-server.js'

const GATE = { featureGates: { AdmissionWebhookMatchConditions: true } }
const map = (name: string): object => ({ metadata: { name } })

for (const kind of [MUTATING, VALIDATING]) {
  t.test(`${kind}: a webhook is called where all conditions are true`, async t => {
    const hook = await hookServer(t, allow)
    const server = await build(t, GATE)
    await configure(server, kind, 'c', webhook('c', hook, {
      rules: [ON_CONFIGS], matchConditions: [
        { name: 'not-left-out', expression: "object.metadata.name != 'left-out'" },
        { name: 'of-creates', expression: "request.operation == 'CREATE'" }
      ]
    }))
    t.equal((await server.post(CONFIGS, map('left-out'))).code, 201)
    t.equal(hook.asked.length, 0)
    t.equal((await server.post(CONFIGS, map('meant'))).code, 201)
    t.equal(hook.asked.length, 1)
  })

  t.test(`${kind}: a condition that fails obeys the failure policy, and no webhook is called`, async t => {
    for (const [failurePolicy, code] of [['Fail', 403], ['Ignore', 201]] as const) {
      const hook = await hookServer(t, allow)
      const server = await build(t, GATE)
      await configure(server, kind, 'c', webhook('c', hook, {
        rules: [ON_CONFIGS], failurePolicy,
        matchConditions: [{ name: 'fails', expression: "object.data.nothing == ''" }]
      }))
      t.equal((await server.post(CONFIGS, map('a'))).code, code, failurePolicy)
      t.equal(hook.asked.length, 0)
    }
  })
}

t.test('conditions of a later webhook read what an earlier one has changed', async t => {
  const [first, second] = [
    await hookServer(t, patching({ op: 'add', path: '/data', value: { a: 'b' } })), await hookServer(t, allow)
  ]
  const server = await build(t, GATE)
  await configure(server, MUTATING, 'c', webhook('a', first, { rules: [ON_CONFIGS] }), webhook('b', second, {
    rules: [ON_CONFIGS],
    matchConditions: [{ name: 'changed', expression: 'has(object.data) && object.data.a == \'b\'' }]
  }))
  await server.post(CONFIGS, map('a'))
  t.equal(second.asked.length, 1)
})

t.test('without the gate they are dropped, with a warning', async t => {
  const hook = await hookServer(t, allow)
  const server = await build(t)
  const { headers } = await server.post(VALIDATING, {
    metadata: { name: 'c' },
    webhooks: [webhook('c', hook, { rules: [ON_CONFIGS], matchConditions: [{ name: 'never', expression: 'false' }] })]
  })
  t.match(
    String(headers.warning), /matchConditions are not kept, as the feature gate AdmissionWebhookMatchConditions is off/
  )
  await server.post(CONFIGS, map('a'))
  t.equal(hook.asked.length, 1)
})

t.test('conditions that are wrong', async t => {
  const hook = await hookServer(t, allow)
  const server = await build(t, GATE)
  const fields = async (matchConditions: unknown): Promise<unknown> => {
    const { json } = await server.post(`${VALIDATING}?dryRun=All`, {
      metadata: { name: 'c' }, webhooks: [webhook('c', hook, { rules: [ON_CONFIGS], matchConditions })]
    })
    return ((json['details'] as { causes?: Array<{ field: string }> }).causes ?? []).map(({ field }) => field)
  }
  const at = 'webhooks[0].matchConditions'
  t.same(await fields([{ name: 'a', expression: 'params == null' }]), [`${at}[0].expression`])
  t.same(await fields([{ name: 'a', expression: "'text'" }]), [`${at}[0].expression`])
  t.same(await fields([{ name: 'a', expression: 'true' }, { name: 'a', expression: 'true' }]), [`${at}[1].name`])
  t.same(await fields([{ name: '', expression: 'true' }]), [`${at}[0].name`])
  t.same(await fields(Array.from({ length: 65 }, (_, index) => ({ name: `n${index}`, expression: 'true' }))), [at])
})
