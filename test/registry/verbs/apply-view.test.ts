/** The scale subresource, updated and applied: the owner gets the field of the object behind it. */
import t from 'tap'
import { decode } from '../../../schemas/language/decode.js'
import type { Subresource } from '../../../schemas/subresource.js'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { resource } from '../../../schemas/resource.js'
import { findResource } from '../../schemas/find-resource.js'
import { Scale } from '../../../schemas/api/autoscaling/scale.js'
import { isStatusError } from '../../../schemas/status.js'
import { AdmissionChain } from '../../../admission/chain.js'
import { openBackend } from '../../../storage/open.js'
import { apply } from '../../../registry/verbs/apply.js'
import { create } from '../../../registry/verbs/create.js'
import { change } from '../../../registry/verbs/change.js'
import { completeView, viewConfig } from '../../../registry/verbs/view-config.js'
import { ResourceStore } from '../../../registry/resource-store.js'
import { context } from '../../storage/store.js'

const message = findResource('apps', 'v1', 'deployments')?.message
if (message === undefined) throw new Error('there are no deployments')

interface Scaled extends ApiObject { spec: { replicas?: number } }
const view: NonNullable<Subresource['view']> = {
  message: Scale,
  read: object => object,
  write: (object, wanted) => { (object as Scaled).spec.replicas = (wanted as unknown as Scaled).spec.replicas ?? 0 },
  validate: (wanted, report) => {
    const { replicas = 0 } = (wanted as unknown as Scaled).spec
    if (replicas < 0) {
      report({ type: 'FieldValueInvalid', field: 'spec.replicas', value: replicas, detail: 'must not be negative' })
    }
  }
}

async function withDeployment (t: { teardown: (fn: () => unknown) => void }) {
  const backend = await openBackend({ kind: 'memory' })
  const { type } = resource(message as NonNullable<typeof message>, {
    plural: 'deployments', namespaced: true, subresources: [{ name: 'scale', verbs: ['get', 'patch', 'update'], view }]
  }).stored
  const store = new ResourceStore({
    type,
    backend,
    prefix: '/registry',
    mediaType: 'application/json',
    admission: new AdmissionChain([]),
    windowSize: 100,
    log: () => {}
  })
  t.teardown(async () => {
    store.close()
    await backend.close()
  })
  await store.open()
  const { object } = decode(store.stored.message, {
    metadata: { name: 'd' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    }
  })
  await create(
    store, function * () { return object }, { namespace: 'default', name: '' }, { ...context, fieldManager: 'maker' }
  )
  return store
}

const target = { namespace: 'default', name: 'd', subresource: 'scale' }
// what is sent
const scaleOf = (spec: object): ApiObject => ({
  kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'd' }, spec
} as unknown as ApiObject)
const replicasOf = (object: ApiObject): unknown => (object as Scaled).spec.replicas
const ownersOf = ({ metadata: { managedFields = [] } }: ApiObject): string[] => managedFields
  .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('"f:replicas"'))
  .map(({ manager, operation, apiVersion, subresource }) =>
    [operation, manager, apiVersion, subresource].join(' ').trim())

t.test('the manager that changes the scale owns the replicas of the object', async t => {
  const store = await withDeployment(t)
  const { object } = await change(store, target, { ...context, fieldManager: 'scaler' }, base => {
    const copy = base.copy()
    view.write(copy, scaleOf({ replicas: 4 }))
    return copy
  })
  t.same([replicasOf(object), ownersOf(object)], [4, ['Update scaler apps/v1 scale']])
})

t.test('an apply of the scale conflicts, is forced, shared and dropped as one of the object', async t => {
  const store = await withDeployment(t)
  const scale = async (manager: string, spec: object, force = false): Promise<ApiObject> =>
    (await apply(
      store,
      {
        configOf: base => viewConfig(store, view, base, scaleOf(spec)),
        force,
        view: { version: 'autoscaling/v1', complete: made => { completeView(view, made) } }
      },
      target,
      { ...context, fieldManager: manager }
    )).entry.object
  const refused = (promise: Promise<unknown>): Promise<string> => promise.then(
    () => 'nothing was refused',
    (error: unknown) => isStatusError(error) ? `${error.status.reason}: ${error.message}` : String(error)
  )
  t.equal(
    await refused(scale('hpa', { replicas: 3 })),
    'Conflict: Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas'
  )
  const forced = await scale('hpa', { replicas: 3 }, true)
  t.same([replicasOf(forced), ownersOf(forced)], [3, ['Apply hpa apps/v1 scale']])
  t.same(JSON.stringify(forced.metadata.managedFields?.[0]?.fieldsV1), '{"f:spec":{"f:replicas":{}}}')
  t.same(ownersOf(await scale('other', { replicas: 3 })), ['Apply hpa apps/v1 scale', 'Apply other apps/v1 scale'])
  t.equal(
    await refused(scale('hpa', { replicas: 5 })),
    'Conflict: Apply failed with 1 conflict: conflict with "other" with subresource "scale": .spec.replicas'
  )
  await scale('other', {})
  t.equal(
    replicasOf(await scale('hpa', {})), 0, 'a scale without a number is one of zero, whatever the object would have'
  )
  t.match(await refused(scale('hpa', { replicas: -1 })), /^Invalid: .*must not be negative/)
  t.match(
    await refused(apply(
      store, { configOf: base => viewConfig(store, view, base, scaleOf({})), force: false },
      { ...target, name: 'none' }, context
    )),
    /^NotFound/
  )
})
