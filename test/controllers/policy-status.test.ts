import t from 'tap'
import { PolicyStatus } from '../../controllers/policy-status.js'
import { create } from '../../registry/verbs/create.js'
import { serverContext } from '../../registry/write-context.js'
import { current } from '../../registry/current.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { sampleOf } from '../samples.js'
import { FakeClock, turns } from '../storage/fake-clock.js'
import { registry } from './namespace-race.js'
import { findResource } from '../schemas/find-resource.js'

t.test('a controller manager that leads checks policies itself', async t => {
  const resources = await registry(t, {})
  const policies = resources.find('admissionregistration.orch.io', 'validatingadmissionpolicies')
  const leases = resources.find('coordination.orch.io', 'leases')
  const kind = findResource('admissionregistration.orch.io', 'v1', 'validatingadmissionpolicies')
  if (kind === undefined || policies === undefined || leases === undefined) throw new Error('there are no such types')
  const clock = new FakeClock(Date.now())
  const context = serverContext(new AbortController().signal)
  const metadata = { name: 'kube-controller-manager', namespace: 'orch-system' }
  const spec = {
    holderIdentity: 'one',
    leaseDurationSeconds: 15,
    renewTime: new Date(clock.wall()).toISOString().replace('Z', '000Z')
  }
  await create(
    leases, { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata, spec } as ApiObject, metadata, context
  )
  const target = { namespace: '', name: 'p' }
  await create(
    policies,
    {
      apiVersion: 'admissionregistration.orch.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      ...sampleOf(kind),
      metadata: { name: 'p' }
    } as ApiObject,
    target,
    context
  )
  const observed = async (): Promise<unknown> => {
    const entry = await current(policies, policies.keys.of('', 'p'))
    return (entry?.object as { status?: { observedGeneration?: number } } | undefined)?.status?.observedGeneration
  }
  const controller = new PolicyStatus({ resources, clock, log: () => {} })
  await controller.start()
  clock.advance(1000)
  while (clock.waits.length === 0) await turns() // it looks again later
  t.equal(await observed(), undefined)
  clock.advance(31_000)
  while (await observed() === undefined) await turns()
  t.equal(await observed(), 1, 'nobody leads any more')
  await controller.close()
})
