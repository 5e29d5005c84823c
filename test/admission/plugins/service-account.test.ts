import t from 'tap'
import type { Answer, Json } from '../../build.js'
import { pluginFor } from '../../../app.js'
import { pods, type Pod } from '../../../schemas/api/core/pods.js'
import { PODS, container, pod, serve } from '../served.js'

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const STRATEGIC = 'application/strategic-merge-patch+json'
const PATH = '/var/run/secrets/orch.io/serviceaccount'

t.test('a pod gets the default account, and its token is mounted at the usual path', async t => {
  const { made } = await serve(t, {})
  const { spec } = await made(PODS, pod('a', {
    initContainers: [container({ name: 'i' })],
    containers: [container(), container({ name: 'own', volumeMounts: [{ name: 'v', mountPath: PATH }] })],
    volumes: [{ name: 'v', emptyDir: {} }]
  }))
  t.equal(spec.serviceAccountName, 'default')
  t.equal(spec.serviceAccount, 'default', 'under its old name too')
  const [, volume] = spec.volumes
  t.match(volume.name, /^orch-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  t.same(volume.projected, {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] }
      }
    ],
    defaultMode: 420
  })
  const mount = { name: volume.name, readOnly: true, mountPath: PATH }
  t.same(spec.initContainers[0].volumeMounts, [mount])
  t.same(
    spec.containers.map(({ volumeMounts }: Json) => volumeMounts), [[mount], [{ name: 'v', mountPath: PATH }]],
    'but where there is something already'
  )
})

t.test('a missing account is refused, and so are secrets that its annotation forbids', async t => {
  const { as, post, made } = await serve(t, {})
  t.match(await post(PODS, pod('x', { serviceAccountName: 'gone' })), {
    code: 403,
    json: {
      message: 'pods "x" is forbidden: error looking up service account default/gone: serviceaccount "gone" not found'
    }
  })
  await made(ACCOUNTS, {
    metadata: { name: 'strict', annotations: { 'orch.io/enforce-mountable-secrets': 'true' } },
    secrets: [{ name: 'mine' }],
    imagePullSecrets: [{ name: 'pull' }]
  })
  const env = (name: string): Json =>
    container({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }] })
  const volume = (secretName: string): Json => ({ volumes: [{ name: 'v', secret: { secretName } }] })
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [
      volume('other'),
      'volume with secret.secretName="other" is not allowed because service account strict does not ' +
      'reference that secret'
    ],
    [
      { containers: [env('other')] },
      'container c with envVar E referencing secret.secretName="other" is not allowed because service account strict ' +
      'does not reference that secret'
    ],
    [
      { containers: [container({ envFrom: [{ secretRef: { name: 'other' } }] })] },
      'container c with envFrom referencing secret.secretName="other" is not allowed because service account strict ' +
      'does not reference that secret'
    ],
    [
      { initContainers: [{ ...env('other'), name: 'i' }] },
      'init container i with envVar E referencing secret.secretName="other" is not allowed because service account ' +
      'strict does not reference that secret'
    ],
    [
      { imagePullSecrets: [{ name: 'other' }] },
      'imagePullSecrets[0].name="other" is not allowed because service account strict does not reference ' +
      'that imagePullSecret'
    ]
  ]
  for (const [spec, why] of refused) {
    t.match(
      await post(PODS, pod('x', { serviceAccountName: 'strict', ...spec })),
      { code: 403, json: { message: `pods "x" is forbidden: ${why}` } }, why
    )
  }
  t.equal(
    (await post(PODS, pod('x', { serviceAccountName: 'strict', restartPolicy: 'Sometimes', ...volume('other') }))).code,
    403, 'before other errors of the pod'
  )
  const { spec } = await made(
    PODS,
    pod('fine', { serviceAccountName: 'strict', ...volume('mine'), containers: [env('mine')], imagePullSecrets: [] })
  )
  t.same(spec.imagePullSecrets, [{ name: 'pull' }], 'of the account')

  const debug = (name: string): Promise<Answer> => as(
    'root', 'PATCH', `${PODS}/fine/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: 'debug', image: 'd', env: env(name)['env'] }] } }, STRATEGIC
  )
  t.match(await debug('other'), {
    code: 403,
    json: {
      message:
        'pods "fine" is forbidden: ephemeral container debug with envVar E referencing secret.secretName="other" is ' +
        'not allowed because service account strict does not reference that secret'
    }
  })
  t.equal((await debug('mine')).code, 200)
})

t.test('no token is mounted if the pod or the account disables it; the pod takes precedence', async t => {
  const { made } = await serve(t, {})
  await made(ACCOUNTS, { metadata: { name: 'quiet' }, automountServiceAccountToken: false })
  const volumes = async (name: string, spec: Json): Promise<number> =>
    ((await made(PODS, pod(name, spec)))['spec'].volumes ?? []).length
  t.equal(await volumes('a', { serviceAccountName: 'quiet' }), 0)
  t.equal(await volumes('b', { serviceAccountName: 'quiet', automountServiceAccountToken: true }), 1)
  t.equal(await volumes('c', { automountServiceAccountToken: false }), 0)
  t.equal(
    await volumes('d', { volumes: [{ name: 'orch-api-access-mine', emptyDir: {} }] }), 1,
    'the one that is there is mounted'
  )
})

t.test('a mirror pod has neither account nor secrets', async t => {
  const { post, made } = await serve(t, {})
  const mirror = (name: string, spec: Json = {}): Json =>
    pod(name, { nodeName: 'n', ...spec }, { annotations: { 'orch.io/config.mirror': 'x' } })
  const refused: ReadonlyArray<readonly [Json, string]> = [
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections'
    ]
  ]
  for (const [spec, why] of refused) {
    t.match(await post(PODS, mirror('m', spec)), { code: 403, json: { message: `pods "m" is forbidden: ${why}` } }, why)
  }
  t.same((await made(PODS, mirror('fine')))['spec'].volumes, undefined)
})

t.test(
  'a container that a later plugin brings in has the token, the limits and the priority of the others', async t => {
    const injector = pluginFor<Pod>(pods, {
      name: 'Injector',
      operations: ['CREATE'],
      mutate: ({ object }, pass) => {
        if (object === undefined || object.spec.containers?.some(({ name }) => name === 'sidecar') === true) return
        object.spec.containers = [...object.spec.containers ?? [], { name: 'sidecar', image: 's', resources: {} }]
        pass.again()
      }
    })
    const { made } = await serve(t, { plugins: [injector] })
    await made('/api/v1/namespaces/default/limitranges', {
      metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] }
    })
    const { spec } = await made(PODS, pod('a'))
    t.equal(spec.volumes.length, 1, 'one volume for all')
    t.match(spec.containers, ['c', 'sidecar'].map(name => ({
      name, volumeMounts: [{ name: spec.volumes[0].name, mountPath: PATH }], resources: { limits: { cpu: '1' } }
    })))
    t.equal(spec.tolerations.length, 2)
  }
)
