import t from 'tap'
import { Environment } from '../../../expressions/program.js'
import { CustomResourceDefinition } from '../../../schemas/api/apiextensions/customresourcedefinitions.js'
import { Pod } from '../../../schemas/api/core/pods.js'
import { celTypeOf } from '../../../schemas/language/cel-types.js'
import { finish } from '../../../schemas/steps.js'

t.test('expressions read objects by their declarations', async t => {
  const own = new Environment({ object: celTypeOf(Pod) })
  const object = { metadata: { name: 'a', creationTimestamp: '2024-01-02T03:04:05Z', labels: { 'a.b': 'c' } }, spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } }], nodeSelector: { x: 'y' } } }
  const value = (text: string): unknown => finish(own.compile(text).evaluate({ object })).value
  t.equal(value('object.metadata.name == "a" && object.metadata.labels["a.b"] == "c"'), true)
  t.equal(value('object.metadata.creationTimestamp > timestamp("2024-01-01T00:00:00Z")'), true)
  t.equal(value('object.spec.containers.all(c, c.ports.exists(p, p.containerPort == 80) && quantity(string(c.resources.limits.cpu)) == quantity("1000m"))'), true)
  t.equal(value('has(object.spec.nodeSelector.x) && !has(object.spec.nodeName)'), true)
  t.throws(() => own.compile('object.spec.nothing == 1'), /undefined field 'nothing'/)
  t.throws(() => own.compile('object.spec.containers[0].name == 1'), /'_==_' applied to '\(string, int\)'/)
})

t.test('a message may contain itself', async t => {
  const own = new Environment({ object: celTypeOf(CustomResourceDefinition) })
  t.ok(own.compile('object.spec.versions.all(v, v.schema.openAPIV3Schema.properties.all(p, v.schema.openAPIV3Schema.properties[p].properties.size() > 0))'))
  t.equal(celTypeOf(CustomResourceDefinition), celTypeOf(CustomResourceDefinition))
})
