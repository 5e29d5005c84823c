/** The subresource scale of what runs a number of pods: that number, as one kind for all of them. */
import { validateMetadata } from '../../meta/metadata.js'
import type { LabelSelector } from '../../meta/options.js'
import { dnsSubdomain } from '../../names.js'
import type { ApiObject, Column, Subresource } from '../../resource.js'
import { selectorText } from '../../selectors/objects.js'
import { scaleColumns } from './columns.js'
import { Scale } from './scale.js'
import { invalid } from '../../rules/findings.js'

/** What there is to know of an object that can be scaled; a selector of labels alone is a map. */
interface Scaled extends ApiObject {
  spec: { replicas?: number | undefined }
  status: { replicas?: number | undefined }
}

/** @param selectorOf what the selector of its pods is */
export const scale = <T extends Scaled>(selectorOf: (object: T) => LabelSelector | undefined): Subresource => ({
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  view: {
    message: Scale,
    columns: scaleColumns as ReadonlyArray<Column<ApiObject>>, // of what `read` makes
    read: object => read(object as T, selectorOf), // of the resource it is a subresource of
    write: (object, wanted) => { (object as T).spec.replicas = (wanted as Scale).spec.replicas ?? 0 },
    validate: (wanted, report) => {
      validateMetadata({ namespaced: true, nameRule: dnsSubdomain, anyFinalizer: false }, wanted.metadata, report)
      const { replicas = 0 } = (wanted as Scale).spec
      if (replicas < 0) invalid(report, 'spec.replicas', replicas, 'must be greater than or equal to 0')
    }
  }
})

function read<T extends Scaled> (object: T, selectorOf: (object: T) => LabelSelector | undefined): Scale {
  const { metadata: { name, namespace, uid, resourceVersion, creationTimestamp }, spec, status } = object
  const selector = selectorText(selectorOf(object)) ?? ''
  const metadata = Object.fromEntries(Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(([, value]) => value !== undefined))
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: spec.replicas },
    status: { replicas: status.replicas ?? 0, ...(selector === '' ? {} : { selector }) }
  }
}
