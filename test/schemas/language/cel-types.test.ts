import t from 'tap'
import { Environment } from '../../../expressions/program.js'
import { CustomResourceDefinition } from '../../../schemas/api/apiextensions/customresourcedefinitions.js'
import { Pod } from '../../../schemas/api/core/pods.js'
import { declareKind } from '../../../schemas/custom/declaration.js'
import { celTypeOf } from '../../../schemas/language/cel-types.js'
import { finish } from '../../../schemas/steps.js'

t.test('expressions read objects by their declarations', async t => {
  const own = new Environment({ object: celTypeOf(Pod) })
  const object = {
    metadata: { name: 'a', creationTimestamp: '2024-01-02T03:04:05Z', labels: { 'a.b': 'c' } },
    spec: {
      containers: [{ name: 'c', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } }],
      nodeSelector: { x: 'y' }
    }
  }
  const value = (text: string): unknown => finish(own.compile(text).evaluate({ object })).value
  t.equal(value('object.metadata.name == "a" && object.metadata.labels["a.b"] == "c"'), true)
  t.equal(value('object.metadata.creationTimestamp > timestamp("2024-01-01T00:00:00Z")'), true)
  t.equal(
    value(
      'object.spec.containers.all(c, c.ports.exists(p, p.containerPort == 80) && ' +
      'quantity(string(c.resources.limits.cpu)) == quantity("1000m"))'
    ),
    true
  )
  t.equal(value('has(object.spec.nodeSelector.x) && !has(object.spec.nodeName)'), true)
  t.throws(() => own.compile('object.spec.nothing == 1'), /undefined field 'nothing'/)
  t.throws(() => own.compile('object.spec.containers[0].name == 1'), /'_==_' applied to '\(string, int\)'/)
})

t.test('a message may contain itself', async t => {
  const own = new Environment({ object: celTypeOf(CustomResourceDefinition) })
  t.ok(own.compile(
    'object.spec.versions.all(v, v.schema.openAPIV3Schema.properties.all(p, ' +
    'v.schema.openAPIV3Schema.properties[p].properties.size() > 0))'
  ))
  t.equal(celTypeOf(CustomResourceDefinition), celTypeOf(CustomResourceDefinition))
})

t.test('so do those of types that definitions declare', async t => {
  const properties = {
    count: { type: 'integer' }, share: { type: 'number' }, on: { type: 'boolean' }, name: { type: 'string' },
    since: { type: 'string', format: 'date-time' }, day: { type: 'string', format: 'date' },
    every: { type: 'string', format: 'duration' }, port: { 'x-orch-int-or-string': true }
  }
  const own = new Environment({
    object: celTypeOf(declareKind(
      { group: 'example.com', version: 'v1', kind: 'Widget' },
      { type: 'object', properties: { spec: { type: 'object', properties } } }
    ))
  })
  t.ok(own.compile(
    'object.spec.count > 1 && object.spec.share > 0.5 && object.spec.on && object.spec.name != "" && ' +
    'object.spec.port != 1'
  ))
  t.ok(own.compile(
    'object.spec.since > object.spec.day && object.spec.every > duration("1s") && object.metadata.labels.size() > 0'
  ))
  for (const [text, types] of Object.entries({
    "object.spec.count > '1'": '(int, string)', "object.spec.share > '1'": '(double, string)',
    'object.spec.on == 1': '(bool, int)',
    "object.spec.since > '1'": '(timestamp, string)'
  })) {
    t.throws(
      () => own.compile(text),
      { message: new RegExp(types.replace(/[()]/g, '\\$&').replace('timestamp', '[a-zA-Z.]*[tT]imestamp')) }, text
    )
  }
})
