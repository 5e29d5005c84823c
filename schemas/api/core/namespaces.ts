/** Namespace (v1). */
import { age, name, text } from '../../columns.js'
import { one, string, list, type Report, type Static } from '../../language/declare.js'
import { metadata, type ObjectMeta } from '../../meta/object.js'
import { Time } from '../../meta/scalars.js'
import { NAMESPACE_FINALIZER, validateFinalizerDomain, validateFinalizerName } from '../../meta/metadata-rules.js'
import { dnsLabel } from '../../names.js'
import { resource } from '../../resource.js'
import { message, kind } from './package.js'
import { invalid } from '../../rules/findings.js'

/** Label with the namespace's name, for namespace selectors. */
const NAMESPACE_NAME_LABEL = 'orch.io/metadata.name'

export type NamespaceSpec = Static<typeof NamespaceSpec>
export const NamespaceSpec = message('NamespaceSpec', 'What holds a namespace.', {
  finalizers: list(1, 'Who has still to empty the namespace before it may go; orch is added on create.', 'string', {
    values: [NAMESPACE_FINALIZER]
  })
})

/** On create, errors have the path of the list; on finalize, that of the entry. */
function validateFinalizers ({ finalizers = [] }: NamespaceSpec, at: (index: number) => string, report: Report): void {
  finalizers.forEach((name, index) => {
    validateFinalizerName(name, at(index), report)
    validateFinalizerDomain(name, at(index), report)
  })
}

export type NamespaceCondition = Static<typeof NamespaceCondition>
export const NamespaceCondition = message('NamespaceCondition', 'How the deletion of a namespace gets on.', {
  type: string(1, 'Type of the condition.', {
    required: true,
    mayBeEmpty: true,
    values: [
      'NamespaceDeletionDiscoveryFailure', 'NamespaceDeletionContentFailure',
      'NamespaceDeletionGroupVersionParsingFailure', 'NamespaceContentRemaining', 'NamespaceFinalizersRemaining'
    ]
  }),
  status: string(2, 'Whether it holds.', { required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown'] }),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

export type NamespaceStatus = Static<typeof NamespaceStatus>
export const NamespaceStatus = message('NamespaceStatus', 'Where a namespace stands.', {
  phase: string(1, 'Active, or Terminating once its deletion was requested.', {
    values: ['Active', 'Terminating'], closed: 'ruled', default: 'Active'
  }),
  conditions: list(2, 'How its deletion gets on.', NamespaceCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  })
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
  validateCreate: ({ spec }, _at, report) => { validateFinalizers(spec, () => 'spec.finalizers', report) }
})

interface NamespaceParts { readonly metadata: ObjectMeta, readonly status: NamespaceStatus }

/** The phase must match the deletionTimestamp. */
function validatePhase ({ metadata, status: { phase } }: NamespaceParts, report: Report): void {
  const due = metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating'
  if (phase !== due) {
    invalid(
      report, 'status.Phase', phase ?? '',
      `may only be '${due}' if \`deletionTimestamp\` is ${due === 'Active' ? '' : 'not '}empty`
    )
  }
}

function prepareForCreate (namespace: Namespace): void {
  namespace.status = { phase: 'Active' }
  const finalizers = namespace.spec.finalizers ?? []
  if (!finalizers.includes(NAMESPACE_FINALIZER)) namespace.spec.finalizers = [...finalizers, NAMESPACE_FINALIZER]
}

/** spec.finalizers keep a namespace until it is empty, in addition to metadata.finalizers. */
export const namespaces = resource(Namespace, {
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [
    {
      name: 'finalize', verbs: ['update'], changes: ['spec'], validateUpdate: (object, _old, report) => {
        validateFinalizers((object as Namespace).spec, index => `spec.finalizers[${index}]`, report)
      }
    },
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (
        object, _old, report
      ) => {
        validatePhase(object as Namespace, report)
      }
    }
  ],
  deleteReturns: 'Object',
  nameRule: dnsLabel,
  columns: [name, text<Namespace>('Status', 'Where the namespace stands.', ({ status }) => status.phase), age],
  selectableFields: { 'status.phase': ({ status }) => status.phase ?? '' },
  strategy: {
    prepareForCreate,
    blocksRemoval: ({ spec }) => (spec.finalizers ?? []).length > 0,
    beginDelete: namespace => {
      namespace.status = { ...namespace.status, phase: 'Terminating' }
      delete namespace.metadata.deletionGracePeriodSeconds // namespaces have no grace period
    }
  }
})
