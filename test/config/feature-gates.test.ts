import t from 'tap'
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import { gateSettings } from '../../config/feature-gates.js'
import { featureGates } from '../../schemas/gates.js'
import { loadedServer } from '../../plugins/shared/plugin.js'

t.test('a gate has its default of the release unless it is set', async t => {
  const gates = featureGates()
  t.equal(gates.enabled('ServerSideApply'), true, 'GA')
  t.equal(gates.enabled('OpenAPIV3'), true, 'beta')
  t.equal(gates.enabled('JobTrackingWithFinalizers'), false, 'beta that is off')
  t.equal(gates.enabled('APIServerTracing'), false, 'alpha')
  t.equal(featureGates({ APIServerTracing: true }).enabled('APIServerTracing'), true)
})

t.test('a stage sets all of its gates, and the setting of a single gate takes precedence', async t => {
  const gates = featureGates({ AllAlpha: true, AllBeta: false, APIServerTracing: false, OpenAPIV3: true })
  t.equal(gates.enabled('NodeSwap'), true)
  t.equal(gates.enabled('APIServerTracing'), false)
  t.equal(gates.enabled('APIListChunking'), false)
  t.equal(gates.enabled('OpenAPIV3'), true)
  t.equal(gates.enabled('ServerSideApply'), true, 'GA belongs to no group')
})

t.test('setting or reading an unknown gate is an error', async t => {
  for (const name of ['Nonsense', 'constructor', '__proto__', '']) {
    t.throws(() => featureGates().enabled(name), /is not a feature gate of release 1\.24/, name)
    t.throws(() => featureGates(Object.fromEntries([[name, true]])), /is not a feature gate of release 1\.24/, name)
  }
})

t.test('the flag has its values in the forms of a bool', async t => {
  t.strictSame(gateSettings(new Map([['NodeSwap', 'T'], ['OpenAPIV3', '0'], ['AllBeta', 'false']])), {
    NodeSwap: true, OpenAPIV3: false, AllBeta: false
  })
})

t.test('the flag may name this server before a gate, as the public flag does since 1.31', async t => {
  t.strictSame(
    gateSettings(new Map([['orch:NodeSwap', 'true'], ['kube:OpenAPIV3', 'false']])),
    { NodeSwap: true, OpenAPIV3: false }
  )
})

t.test('routes and plugins read gates from the server', async t => {
  const fastify = Fastify()
  t.teardown(() => fastify.close())
  let seen: unknown[] = []
  await fastify.register(async scope => {
    await orch(scope, { featureGates: { NodeSwap: true } })
    const { featureGates: gates } = loadedServer(scope).orchSettings
    seen = [gates.enabled('NodeSwap'), gates.enabled('MemoryQoS')]
  })
  await fastify.ready()
  t.strictSame(seen, [true, false])
})

t.test('a release that is emulated decides about defaults and stages', async t => {
  const gate = 'CustomResourceValidationExpressions'
  t.equal(featureGates({}, { release: '1.24' }).enabled(gate), false)
  t.equal(featureGates({}, { release: '1.36' }).enabled(gate), true)
  t.equal(featureGates({ AllAlpha: false }, { release: '1.36' }).enabled(gate), true, 'it is not alpha there')
  t.equal(featureGates({ [gate]: true }, { release: '1.24' }).enabled(gate), true)
})
