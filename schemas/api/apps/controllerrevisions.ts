/** ControllerRevision (apps/v1): a state of a DaemonSet or StatefulSet that can be rolled back to. */
import { age, name, NONE, text, type Column } from '../../columns.js'
import { one, int64, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { RawExtension } from '../../meta/runtime.js'
import { resource } from '../../resource.js'
import { kind } from './package.js'
import { notNegative, required } from '../../rules/findings.js'

export type ControllerRevision = Static<typeof ControllerRevision>
export const ControllerRevision =
  kind('ControllerRevision', 'A snapshot of the state of a controller; does not change.', {
    metadata,
    data: one(2, 'The state that was kept.', RawExtension, { immutable: true }),
    revision: int64(3, 'Number of the revision; later ones are higher.', { required: true })
  }, {
    validate: ({ data, revision }, _at, report) => {
      if (data === undefined) required(report, 'data', 'data is mandatory')
      notNegative(report, 'revision', revision)
    }
  })

/** The controller, as KIND.GROUP/NAME. */
function controllerOf ({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return NONE
  const slash = owner.apiVersion.indexOf('/')
  return `${owner.kind}${slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`}`.toLowerCase() + `/${owner.name}`
}

const columns: ReadonlyArray<Column<ControllerRevision>> = [
  name,
  text('Controller', 'What the revision is of.', controllerOf),
  text('Revision', 'Number of the revision.', ({ revision }) => revision),
  age
]

export const controllerRevisions = resource(ControllerRevision, {
  plural: 'controllerrevisions',
  namespaced: true,
  columns
})
