/** Errors for bodies that cannot be decoded. */
import t from 'tap'
import { build } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const REPLICAS = '/apis/apps/v1/namespaces/default/deployments/d/scale'
const UNKNOWN =
  'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: '

t.test('the error for another kind or version names the sent and the expected type', async t => {
  const server = await build(t)
  for (const [url, body, message] of [
    [
      CONFIGS, { kind: 'Secret', apiVersion: 'v1' },
      'Secret in version "v1" cannot be handled as a ConfigMap: kind: expected "ConfigMap", got "Secret"'
    ],
    [
      CONFIGS, { kind: 'Deployment', apiVersion: 'apps/v1' },
      'Deployment in version "v1" cannot be handled as a ConfigMap: kind: expected "ConfigMap", got "Deployment"'
    ],
    [
      CONFIGS, { kind: 'ConfigMap', apiVersion: 'v2' },
      'the API version in the data (v2) does not match the expected API version (v1)'
    ],
    [
      DEPLOYMENTS, { kind: 'Deployment', apiVersion: 'apps/v1beta1' },
      'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)'
    ],
    [
      DEPLOYMENTS, { apiVersion: 'apps/v1beta1' },
      'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)'
    ],
    [
      CONFIGS,
      { metadata: { labels: [] } },
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: ConfigMap.metadata.labels: ' +
      'expected an object, got a list'
    ],
    [CONFIGS, '', `${UNKNOWN}the body is empty`],
    [CONFIGS, '{', `${UNKNOWN}the body is not valid JSON: something unexpected at character 1`],
    [CONFIGS, '[]', `${UNKNOWN}ConfigMap: expected an object, got a list`],
    [CONFIGS, { kind: 7 }, `${UNKNOWN}kind: expected a string, got a number`]
  ] as const) {
    t.match(await server.post(url, body), { code: 400, json: { reason: 'BadRequest', message } }, message)
  }
  await server.post(DEPLOYMENTS, {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    }
  })
  const message = 'Deployment in version "v1" cannot be handled as a Scale: kind: expected "Scale", got "Deployment"'
  t.match(
    await server.put(REPLICAS, { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'd' } }),
    { code: 400, json: { message } }
  )
})

t.test('Strict refusals have the same wording', async t => {
  const server = await build(t)
  const message =
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: ' +
    'strict decoding error: unknown field "foo", duplicate field "data.a"'
  t.match(
    await server.post(
      `${CONFIGS}?fieldValidation=Strict`, '{"metadata":{"name":"c"},"foo":1,"data":{"a":"1","a":"2"}}'
    ),
    { code: 400, json: { message } }
  )
})
