/** ImagePolicyWebhook with a real review server, configured through the file of --admission-control-config-file. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerResponse } from 'node:http'
import type { ServerOptions } from '../../../app.js'
import { checkedFlags, configuration } from '../../../config/options.js'
import { imagePolicyIn } from '../../../admission/plugins/image-policy-configuration.js'
import { build, type Json, type Client, type Test } from '../../build.js'
import { reviewer, CA, kubeconfig, type Reviewer } from '../../reviewer.js'

const PODS = '/api/v1/namespaces/default/pods'
const pod = (name: string, image: string, metadata: Json = {}): Json => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image }], initContainers: [{ name: 'i', image: 'init' }] }
})

async function serving (
  t: Test & { testdir: (files: Record<string, string>) => string }, port: number, settings: Json,
  more: ServerOptions = {}
): Promise<Client> {
  const folder = t.testdir({ 'ca.crt': CA, kubeconfig: kubeconfig(port) })
  const file = join(folder, 'admission.json')
  writeFileSync(file, JSON.stringify({
    apiVersion: 'apiserver.config.orch.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      { name: 'ImagePolicyWebhook', configuration: { imagePolicy: { kubeConfigFile: 'kubeconfig', ...settings } } }
    ]
  }))
  const { options } = await configuration(checkedFlags([
    `--data-dir=${folder}/data`, '--enable-admission-plugins=ImagePolicyWebhook',
    `--admission-control-config-file=${file}`
  ]))
  return await build(t, { admission: options.admission ?? {}, ...more })
}

const judged: Reviewer['answer'] = ({ spec }) => (spec as {
  containers: Array<{ image: string }>
}).containers.some(({ image }) => image === 'bad')
  ? { allowed: false, reason: 'bad is bad' }
  : { allowed: true, auditAnnotations: { seen: 'yes' } }

t.test('the review has a pod\'s images and its image-policy annotations, and the decision is cached', async t => {
  const images = await reviewer(t, judged)
  const server = await serving(t, images.port, {})
  const { code } = await server.post(
    PODS, pod('a', 'good', { annotations: { 'my.image-policy.orch.io/break-glass': 'yes', other: 'no' } })
  )
  t.equal(code, 201)
  t.match(images.asked, [
    {
      apiVersion: 'imagepolicy.orch.io/v1alpha1',
      kind: 'ImageReview',
      spec: {
        containers: [{ image: 'good' }, { image: 'init' }],
        annotations: { 'my.image-policy.orch.io/break-glass': 'yes' },
        namespace: 'default'
      }
    }
  ])
  t.notOk('other' in images.asked[0]?.['spec'].annotations)
  t.match(await server.post(PODS, pod('b', 'bad')), {
    code: 403,
    json: {
      reason: 'Forbidden',
      message: 'pods "b" is forbidden: image policy webhook backend denied one or more images: bad is bad'
    }
  })
  const asked = images.asked.length
  t.match(await server.post(PODS, pod('c', 'bad')), { code: 403 })
  t.equal(
    (await server.post(PODS, pod('d', 'good', { annotations: { 'my.image-policy.orch.io/break-glass': 'yes' } }))).code,
    201
  )
  t.equal(images.asked.length, asked, 'both answers are remembered')
  images.answer = () => ({ allowed: false })
  t.match(await server.post(PODS, pod('e', 'third')), {
    code: 403, json: { message: 'pods "e" is forbidden: one or more images rejected by webhook backend' }
  })
  await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } })
  t.equal(images.asked.length, asked + 1)
})

t.test('with public names the review has those', async t => {
  const images = await reviewer(t, judged)
  const server = await serving(t, images.port, {}, { compatNames: true })
  const pods = PODS.replace('default', 'kube-system')
  const made = await server.post(
    pods, pod('a', 'good', { annotations: { 'my.image-policy.k8s.io/break-glass': 'yes' } })
  )
  t.equal(made.code, 201)
  t.match(images.asked, [
    {
      apiVersion: 'imagepolicy.k8s.io/v1alpha1',
      spec: { annotations: { 'my.image-policy.k8s.io/break-glass': 'yes' }, namespace: 'kube-system' }
    }
  ])
  t.match(await server.post(pods, pod('b', 'bad')), { code: 403, json: { message: /bad is bad/ } })
})

t.test('1.36 sends no creation time of the review', async t => {
  for (const [emulatedVersion, metadata] of [['1.24', { creationTimestamp: null }], ['1.36', {}]] as const) {
    const images = await reviewer(t, judged)
    const server = await serving(t, images.port, {}, { emulatedVersion })
    t.equal((await server.post(PODS, pod('a', 'good'))).code, 201)
    t.strictSame(images.asked[0]?.['metadata'], metadata, emulatedVersion)
  }
})

t.test('the image webhook receives the trace context of the request', async t => {
  const sent: unknown[] = []
  const images = await reviewer(t, (review, reply, request) => {
    sent.push(request.headers['traceparent'])
    return judged(review, reply, request)
  })
  const server = await serving(t, images.port, {}, { featureGates: { APIServerTracing: true } })
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  t.equal((await server.post(PODS, pod('a', 'good'), { traceparent })).code, 201)
  t.strictSame(sent, [traceparent])
})

t.test('if the webhook fails pods are refused, or admitted with an annotation where that is the default', async t => {
  const fails = (_review: Json, reply: ServerResponse): undefined => { reply.writeHead(404).end(); return undefined }
  const images = await reviewer(t, fails)
  const strict = await serving(t, images.port, { allowTTL: -1 })
  t.match(await strict.post(PODS, pod('a', 'good')), {
    code: 403, json: { message: 'pods "a" is forbidden: the server could not find the requested resource' }
  })
  images.answer = () => ({})
  t.match(
    await strict.post(PODS, pod('a', 'unknown')), { code: 403, json: { message: /one or more images rejected/ } },
    'images that are not allowed are denied'
  )
  images.answer = () => ({ allowed: 'perhaps' })
  t.match(await strict.post(PODS, pod('a', 'good')), {
    code: 403, json: { message: /the answer does not say whether the images are allowed/ }
  })
  images.answer = judged
  for (const name of ['a', 'b']) t.equal((await strict.post(PODS, pod(name, 'good'))).code, 201)
  t.equal(images.asked.length, 5, 'with a time of none nothing is remembered')

  images.answer = fails
  const lenient = await serving(t, images.port, { defaultAllow: true })
  t.match(await lenient.post(PODS, pod('a', 'bad')), {
    code: 201, json: { metadata: { annotations: { 'alpha.image-policy.orch.io/failed-open': 'true' } } }
  })
  t.match((await lenient.get(`${PODS}/a`)).json, {
    metadata: { annotations: { 'alpha.image-policy.orch.io/failed-open': 'true' } }
  })
})

t.test('an error in the configuration is refused, naming the field', async t => {
  const refused: ReadonlyArray<readonly [unknown, RegExp]> = [
    [undefined, /--admission-control-config-file/],
    [[], /it is not an object/],
    [{}, /imagePolicy: expected an object/],
    [{ imagepolicy: {} }, /unknown field "imagepolicy"/],
    [{ imagePolicy: {} }, /imagePolicy\.kubeConfigFile: Required value/],
    [{ imagePolicy: { kubeConfigFile: 'k', more: 1 } }, /unknown field "imagePolicy\.more"/],
    [{ imagePolicy: { kubeConfigFile: 'k', defaultAllow: 'yes' } }, /imagePolicy\.defaultAllow/],
    [{ imagePolicy: { kubeConfigFile: 'k', allowTTL: 1.5 } }, /imagePolicy\.allowTTL: expected an integer/],
    [{ imagePolicy: { kubeConfigFile: 'k', denyTTL: 1801 } }, /imagePolicy\.denyTTL: must be between 1 and 1800/],
    [
      { imagePolicy: { kubeConfigFile: 'k', retryBackoff: -2 } },
      /imagePolicy\.retryBackoff: must be between 1 and 300000/
    ]
  ]
  for (const [value, message] of refused) {
    t.throws(
      () => imagePolicyIn('ImagePolicyWebhook', value === undefined ? undefined : { value }),
      { name: 'ConfigurationError', message }
    )
  }
  t.same(imagePolicyIn('ImagePolicyWebhook', { value: { imagePolicy: { kubeConfigFile: '/k' } } }), {
    kubeConfigFile: '/k', allowTTL: 300_000, denyTTL: 30_000, retryBackoff: 500, defaultAllow: false
  })
  await t.rejects(
    serving(t, 1, { kubeConfigFile: '/none' }),
    { name: 'FlagError', message: /--admission-control-config-file=.*ImagePolicyWebhook.*\/none cannot be read/ }
  )
})
