/** Scale (autoscaling/v1): the number of replicas of any workload. */
import { int32, one, string, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'

const { kind, message } = apiPackage('autoscaling', 'v1', 'io.orch.api.autoscaling.v1')

export type ScaleSpec = Static<typeof ScaleSpec>
export const ScaleSpec = message('ScaleSpec', 'How many pods are wanted.', {
  replicas: int32(1, 'Number of pods that are wanted.')
})

export type ScaleStatus = Static<typeof ScaleStatus>
export const ScaleStatus = message('ScaleStatus', 'How many pods there are.', {
  replicas: int32(1, 'Number of pods there are.', { required: true }),
  selector: string(2, 'Labels of the pods that count, as a selector string.')
})

export type Scale = Static<typeof Scale>
export const Scale = kind('Scale', 'How many pods an object has and should have.', {
  metadata,
  spec: one(2, 'How many pods are wanted.', ScaleSpec),
  status: one(3, 'How many pods there are; written by the system.', ScaleStatus)
})
