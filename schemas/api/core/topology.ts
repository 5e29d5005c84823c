/** Volume topology requirements. */
import { string, list, type Static } from '../../language/declare.js'
import { message } from './package.js'

export type TopologySelectorLabelRequirement = Static<typeof TopologySelectorLabelRequirement>
export const TopologySelectorLabelRequirement =
  message('TopologySelectorLabelRequirement', 'A requirement on one label of the topology.', {
    key: string(1, 'Label key the requirement is about.', { required: true, mayBeEmpty: true }),
    values: list(2, 'Values of which the label must have one.', 'string', { required: true })
  })

export type TopologySelectorTerm = Static<typeof TopologySelectorTerm>
export const TopologySelectorTerm =
  message('TopologySelectorTerm', 'Requirements on the topology, which must all hold.', {
    matchLabelExpressions: list(1, 'Requirements on the labels of the topology.', TopologySelectorLabelRequirement)
  }, { structType: 'atomic' })
