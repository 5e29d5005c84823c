/** Namespace (v1): a scope for names, and what is deleted with it. */
import { list, one, string } from '../declare.js'
import type { Report, Static } from '../declare.js'
import { Time } from '../meta/scalars.js'
import { finalizerName } from '../metadata-rules.js'
import { message, kind, metadata } from './package.js'

/** Carries the name of each namespace, so that selectors can name one. */
export const NAMESPACE_NAME_LABEL = 'orch.io/metadata.name'
/** Holds a namespace until its contents are gone. */
export const NAMESPACE_FINALIZER = 'orch'

export type NamespaceSpec = Static<typeof NamespaceSpec>
export const NamespaceSpec = message('NamespaceSpec', 'What holds a namespace.', {
  finalizers: list(1, 'Who has still to empty the namespace before it may go; orch is added on create.', 'string', { values: [NAMESPACE_FINALIZER] })
})

export type NamespaceCondition = Static<typeof NamespaceCondition>
export const NamespaceCondition = message('NamespaceCondition', 'How the deletion of a namespace gets on.', {
  type: string(1, 'What is told.', {
    required: true,
    values: ['NamespaceDeletionDiscoveryFailure', 'NamespaceDeletionContentFailure', 'NamespaceDeletionGroupVersionParsingFailure', 'NamespaceContentRemaining', 'NamespaceFinalizersRemaining']
  }),
  status: string(2, 'Whether it holds.', { required: true, values: ['True', 'False', 'Unknown'] }),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

export type NamespaceStatus = Static<typeof NamespaceStatus>
export const NamespaceStatus = message('NamespaceStatus', 'Where a namespace stands.', {
  phase: string(1, 'Active, or Terminating once its deletion was asked for.', { values: ['Active', 'Terminating'], closed: true, default: 'Active' }),
  conditions: list(2, 'How its deletion gets on.', NamespaceCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })
})

export type Namespace = Static<typeof Namespace>
export const Namespace = kind('Namespace', 'A scope for names; what lives in it is deleted with it.', {
  metadata,
  spec: one(2, 'What holds the namespace.', NamespaceSpec),
  status: one(3, 'Where the namespace stands.', NamespaceStatus)
}, {
  defaults: ({ metadata }) => {
    if (metadata.name) metadata.labels = { ...metadata.labels, [NAMESPACE_NAME_LABEL]: metadata.name }
  },
  validate: validateNamespace
})

function validateNamespace (namespace: { spec: NamespaceSpec }, at: string, report: Report): void {
  namespace.spec.finalizers?.forEach((name, index) => {
    const why = finalizerName(name)
    if (why !== undefined) report({ type: 'FieldValueInvalid', field: `spec.finalizers[${index}]`, value: name, detail: why })
  })
}

export function prepareNamespaceForCreate (namespace: Namespace): void {
  namespace.status = { phase: 'Active' }
  const finalizers = namespace.spec.finalizers ?? []
  if (!finalizers.includes(NAMESPACE_FINALIZER)) namespace.spec.finalizers = [...finalizers, NAMESPACE_FINALIZER]
}

/** The object changes metadata only; status changes the status, finalize the finalizers. */
export function prepareNamespaceForUpdate (namespace: Namespace, old: Namespace, subresource: string): void {
  if (subresource !== 'finalize') namespace.spec = old.spec
  if (subresource !== 'status') namespace.status = old.status
}
