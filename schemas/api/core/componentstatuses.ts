/** ComponentStatus (v1): health of a control plane component. */
import { name, text, type Column } from '../../columns.js'
import { string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { resource } from '../../resource.js'
import { kind, message } from './package.js'

export type ComponentCondition = Static<typeof ComponentCondition>
export const ComponentCondition = message('ComponentCondition', 'A finding about a component of the control plane.', {
  type: string(1, 'Type of the condition; only Healthy is in use.', {
    required: true, mayBeEmpty: true, values: ['Healthy']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  message: string(3, 'What the component answered, such as its health check output.'),
  error: string(4, 'Error code of the health check.')
})

export type ComponentStatus = Static<typeof ComponentStatus>
export const ComponentStatus = kind('ComponentStatus', 'Deprecated: health of a component of the control plane.', {
  metadata,
  conditions: list(2, 'What was found about the component.', ComponentCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  })
})

const health = ({ conditions }: ComponentStatus): ComponentCondition | undefined =>
  conditions?.find(({ type }) => type === 'Healthy')

function statusOf (component: ComponentStatus): string {
  const conditions = health(component)
  return conditions === undefined ? 'Unknown' : conditions.status === 'True' ? 'Healthy' : 'Unhealthy'
}

const columns: ReadonlyArray<Column<ComponentStatus>> = [
  name,
  text('Status', 'Whether the component is well.', statusOf),
  text('Message', 'What it answered.', component => health(component)?.message),
  text('Error', 'Error code of the health check.', component => health(component)?.error)
]

export const componentStatus = resource(ComponentStatus, {
  plural: 'componentstatuses',
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  virtual: true,
  columns,
  deprecation: { deprecated: '1.19' }
})
