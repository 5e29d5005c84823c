import t from 'tap'
import { documentJson, OpenApi3 } from '../../../schemas/openapi/v3.js'
import { swaggerJson, whole } from '../../../schemas/openapi/v2.js'
import { representations } from '../../../schemas/resources.js'
import { finish } from '../../../schemas/steps.js'

const INFO = { version: 'v1' }
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- documents are looked into freely
type Plain = Record<string, any>
const v2 = JSON.parse(whole(swaggerJson(representations, INFO)).toString()) as Plain
const documents = new OpenApi3(representations, INFO)
const read = (name: string, from = documents): Plain => {
  return JSON.parse(documentJson(finish(from.parts(name))).toString()) as Plain
}
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])
const ids = (document: Plain): string[] => Object.values(document['paths'] as Plain).flatMap((item: Plain) =>
  Object.entries(item)
    .filter(([method]) => METHODS.has(method))
    .map(([, operation]) => (operation as Plain)['operationId'] as string))

t.test('together they have the operations of v2, each once', async t => {
  const all = documents.names.flatMap(name => ids(read(name)))
  t.same(all.sort(), ids(v2).sort())
})

t.test('each has what it refers to, and nothing else', async t => {
  const needed = new Set<string>()
  for (const name of documents.names) {
    const document = read(name)
    const references = new Set([
      ...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)
    ].map(match => match[1] ?? ''))
    t.same(Object.keys(document['components'].schemas), [...references].sort(), name)
    for (const reference of references) needed.add(reference)
  }
  t.same([...needed].sort(), Object.keys(v2['definitions']))
})

t.test('a document is the same whatever was made before it', async t => {
  for (const name of ['apis/batch/v1', 'api/v1', 'apis/policy/v1']) {
    t.same(read(name, new OpenApi3(representations, INFO)), read(name), name)
  }
})

t.test('operations have their bodies, answers and parameters as OpenAPI 3 has them', async t => {
  const { paths } = read('api/v1')
  const { get, patch, post, delete: remove } = {
    ...paths['/api/v1/namespaces/{namespace}/pods/{name}'],
    ...{ post: paths['/api/v1/namespaces/{namespace}/pods'].post }
  } as Plain
  const POD = { schema: { $ref: '#/components/schemas/io.orch.api.core.v1.Pod' } }
  t.match(get, {
    operationId: 'readCoreV1NamespacedPod',
    tags: ['core_v1'],
    'x-kubernetes-action': 'get',
    'x-orch-group-version-kind': { group: '', version: 'v1', kind: 'Pod' }
  })
  t.strictSame(get.responses, {
    200: {
      description: 'OK',
      content: { 'application/json': POD, 'application/yaml': POD, 'application/vnd.orch.protobuf': POD }
    },
    401: { description: 'Unauthorized' }
  })
  t.strictSame(post.requestBody, { content: { '*/*': POD }, required: true })
  t.match(Object.keys(patch.requestBody.content), ['application/json-patch+json', 'application/merge-patch+json'])
  t.strictSame(remove.requestBody.required, undefined)
  t.strictSame(remove.parameters.find(({ name }: Plain) => name === 'orphanDependents'), {
    name: 'orphanDependents',
    in: 'query',
    description: 'The older form of propagationPolicy Orphan; not both.',
    schema: { type: 'boolean', uniqueItems: true }
  })
  t.same(
    paths['/api/v1/namespaces/{namespace}/pods/{name}'].parameters.map(
      ({ name, in: where, required }: Plain) => [name, where, required]
    ),
    [['name', 'path', true], ['namespace', 'path', true], ['pretty', 'query', undefined]]
  )
  t.equal(paths['/api/v1/watch/pods'].get.deprecated, true)
})

t.test('schemas say more than a reference, several types, null and what is deprecated', async t => {
  const core = read('api/v1')['components'].schemas
  t.strictSame(core['io.orch.api.core.v1.Pod'].properties.spec, {
    allOf: [{ $ref: '#/components/schemas/io.orch.api.core.v1.PodSpec' }], description: 'What is to run, and how.'
  })
  t.match(core['io.orch.apimachinery.pkg.util.intstr.IntOrString'], {
    format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }], type: undefined
  })
  t.match(core['io.orch.apimachinery.pkg.api.resource.Quantity'], { type: 'string' })
  t.match(core['io.orch.api.core.v1.Container'].properties.ports, {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
    'x-kubernetes-patch-merge-key': 'containerPort',
    'x-orch-patch-strategy': 'merge'
  })
  t.equal(read('apis/batch/v1beta1')['components'].schemas['io.orch.api.batch.v1beta1.CronJob'].deprecated, true)
  t.equal(read('apis/batch/v1')['components'].schemas['io.orch.api.batch.v1.CronJob'].deprecated, undefined)
})

t.test('documents that are made side by side, in steps, are what each is alone', async t => {
  const from = new OpenApi3(representations, INFO)
  const made = ['api/v1', 'apis/apps/v1'].map(name => ({
    name, steps: from.parts(name), document: undefined as Plain | undefined
  }))
  let most = 0
  while (made.some(({ document }) => document === undefined)) {
    most++
    for (const one of made) {
      if (one.document !== undefined) continue
      const { done, value } = one.steps.next()
      if (done === true) one.document = JSON.parse(documentJson(value).toString()) as Plain
    }
  }
  t.ok(most > 100, 'a step for each path')
  for (const { name, document } of made) t.same(document, read(name), name)
})

t.test('there are no other documents', async t => {
  for (const name of ['', 'apis/apps/v9', 'constructor']) t.equal(documents.has(name), false, name)
})
