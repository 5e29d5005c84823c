/** A definition whose deletion has begun stays until the objects of its type are deleted. */
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from './customresourcedefinitions.js'

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.orch.io'

export function beginCleanup ({ metadata, status }: CustomResourceDefinition): void {
  const { finalizers = [] } = metadata
  if (!finalizers.includes(CLEANUP_FINALIZER)) metadata.finalizers = [...finalizers, CLEANUP_FINALIZER]
  delete metadata.deletionGracePeriodSeconds // definitions have no grace period
  const terminating: CustomResourceDefinitionCondition = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: metadata.deletionTimestamp,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon'
  }
  status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== 'Terminating'), terminating]
}
