/** PodTemplate (v1). */
import { containerColumns, labels, name, text, type Column } from '../../columns.js'
import { one, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { PodTemplateSpec } from './pod-spec.js'
import { dropGatedAnnotations } from './rules/gated-fields.js'
import { templateWarnings } from './rules/pod-warnings.js'
import { resource } from '../../resource.js'
import { kind } from './package.js'

export type PodTemplate = Static<typeof PodTemplate>
export const PodTemplate = kind('PodTemplate', 'A template from which pods are made.', {
  metadata,
  template: one(2, 'The pods that are made from it.', PodTemplateSpec)
})

const columns: ReadonlyArray<Column<PodTemplate>> = [
  name,
  ...containerColumns<PodTemplate>(({ template }) => template.spec),
  text('Pod Labels', 'Labels of the pods that are made from it.', ({ template }) => labels(template.metadata.labels))
]

export const podTemplates = resource(PodTemplate, {
  plural: 'podtemplates',
  notOnUpdate: ['generateName'],
  namespaced: true,
  deleteReturns: 'Object',
  generation: ({ template }) => template,
  strategy: {
    dropGated: ({ template }, old, gates) => { dropGatedAnnotations(template.metadata, old?.template.metadata, gates) },
    warnings: templateWarnings<PodTemplate>('template', ({ template }) => template)
  },
  columns
})
