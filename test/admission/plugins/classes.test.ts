/** DefaultIngressClass, DefaultStorageClass, PersistentVolumeClaimResize and StorageObjectInUseProtection. */
import t from 'tap'
import type { Json } from '../../build.js'
import { systemClock } from '../../../event-loop/clock.js'
import { MERGE, serve } from '../served.js'

const NETWORKING = '/apis/networking.orch.io/v1'
const STORAGE_CLASSES = '/apis/storage.orch.io/v1/storageclasses'
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'

const claim = (name: string, spec: Json = {}, annotations: Json = {}): Json => ({
  metadata: { name, annotations },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec }
})
const storageClass = (name: string, annotations: Json = {}, more: Json = {}): Json => ({
  metadata: { name, annotations }, provisioner: 'example.com/disk', ...more
})
const DEFAULT_STORAGE = { 'storageclass.orch.io/is-default-class': 'true' }

t.test('an ingress without a class gets the default one, and is refused where there are two', async t => {
  const { post, made } = await serve(t, {})
  const ingresses = `${NETWORKING}/namespaces/default/ingresses`
  const ingress = (name: string, spec: Json = {}, annotations: Json = {}): Json => ({
    metadata: { name, annotations }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec }
  })
  const ingressClass = (name: string, annotations: Json = {}): Json => ({
    metadata: { name, annotations }, spec: { controller: 'example.com/c' }
  })
  await made(`${NETWORKING}/ingressclasses`, ingressClass('plain'))
  t.equal((await made(ingresses, ingress('none')))['spec'].ingressClassName, undefined)
  await made(`${NETWORKING}/ingressclasses`, ingressClass('first', { 'ingressclass.orch.io/is-default-class': 'true' }))
  t.equal((await made(ingresses, ingress('a')))['spec'].ingressClassName, 'first')
  t.equal((await made(ingresses, ingress('b', { ingressClassName: 'plain' })))['spec'].ingressClassName, 'plain')
  t.equal(
    (await made(ingresses, ingress('c', {}, { 'orch.io/ingress.class': 'old' })))['spec'].ingressClassName, undefined
  )
  await made(
    `${NETWORKING}/ingressclasses`, ingressClass('second', { 'ingressclass.orch.io/is-default-class': 'true' })
  )
  t.match(await post(ingresses, ingress('d')), {
    code: 403,
    json: {
      message:
        'ingresses.networking.orch.io "d" is forbidden: Internal error occurred: ' +
        '2 default IngressClasses were found, only 1 allowed'
    }
  })
})

t.test('a claim without a class gets the default one, and is refused where there are two', async t => {
  const { post, made } = await serve(t, {})
  t.equal((await made(CLAIMS, claim('none')))['spec'].storageClassName, undefined)
  await made(STORAGE_CLASSES, storageClass('plain'))
  await made(STORAGE_CLASSES, storageClass('first', { 'storageclass.beta.orch.io/is-default-class': 'true' }))
  t.equal((await made(CLAIMS, claim('a')))['spec'].storageClassName, 'first')
  t.equal((await made(CLAIMS, claim('b', { storageClassName: '' })))['spec'].storageClassName, '')
  t.equal(
    (await made(CLAIMS, claim('c', {}, { 'volume.beta.orch.io/storage-class': 'plain' })))['spec'].storageClassName,
    undefined
  )
  await made(STORAGE_CLASSES, storageClass('second', DEFAULT_STORAGE))
  t.match(await post(CLAIMS, claim('d')), {
    code: 403,
    json: {
      message: 'persistentvolumeclaims "d" is forbidden: Internal error occurred: 2 default StorageClasses were found'
    }
  })
})

t.test('since 1.26 the newest of several default classes is taken, of the same second the first by name', async t => {
  let second = 0
  const clock = { ...systemClock, wall: () => Date.parse('2026-01-01T00:00:00Z') + second * 1000 }
  const { made } = await serve(t, {}, { emulatedVersion: '1.36', clock })
  const ingresses = `${NETWORKING}/namespaces/default/ingresses`
  const classes = async (): Promise<unknown[]> => [
    (await made(
      ingresses,
      { metadata: { generateName: 'i-' }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }
    ))['spec'].ingressClassName,
    (await made(CLAIMS, { ...claim(''), metadata: { generateName: 'c-' } }))['spec'].storageClassName
  ]
  for (const [name, at, wanted] of [['b', 0, 'b'], ['z', 1, 'z'], ['c', 1, 'c'], ['d', 1, 'c']] as const) {
    second = at
    await made(
      `${NETWORKING}/ingressclasses`,
      {
        metadata: { name, annotations: { 'ingressclass.orch.io/is-default-class': 'true' } },
        spec: { controller: 'example.com/c' }
      }
    )
    await made(STORAGE_CLASSES, storageClass(name, DEFAULT_STORAGE))
    t.same(await classes(), [wanted, wanted], name)
  }
})

t.test('claims and volumes are protected while they are in use', async t => {
  const { made } = await serve(t, {})
  t.same((await made(CLAIMS, claim('a')))['metadata'].finalizers, ['orch.io/pvc-protection'])
  const volume = {
    metadata: { name: 'v', finalizers: ['example.com/mine'] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }
  }
  t.same((await made('/api/v1/persistentvolumes', volume))['metadata'].finalizers, [
    'example.com/mine', 'orch.io/pv-protection'
  ])
})

t.test('a claim grows only when it is bound, and where its class allows that', async t => {
  const { as, made } = await serve(t, {})
  await made(STORAGE_CLASSES, storageClass('fixed'))
  await made(STORAGE_CLASSES, storageClass('grows', {}, { allowVolumeExpansion: true }))
  const grow = (name: string, storage = '2Gi') =>
    as('root', 'PATCH', `${CLAIMS}/${name}`, { spec: { resources: { requests: { storage } } } }, MERGE)
  for (const name of ['fixed', 'grows', 'gone']) {
    await made(CLAIMS, claim(name, { storageClassName: name, volumeName: `v-${name}` }))
  }
  t.equal((await grow('grows')).code, 422, 'the validation of claims refuses an unbound one')
  for (const name of ['fixed', 'grows', 'gone']) {
    t.equal(
      (await as(
        'root', 'PATCH', `${CLAIMS}/${name}/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }, MERGE
      )).code,
      200
    )
  }
  for (const name of ['fixed', 'gone']) {
    t.match(await grow(name), {
      code: 403,
      json: {
        message:
          `persistentvolumeclaims "${name}" is forbidden: only dynamically provisioned pvc can be resized and the ` +
          'storageclass that provisions the pvc must support resize'
      }
    })
  }
  t.equal((await grow('grows')).code, 200)
})
