/** The scale subresource: the replicas of any workload, as one kind. */
import { validateMetadata } from '../../meta/metadata.js'
import type { LabelSelector } from '../../meta/options.js'
import { dnsSubdomain } from '../../names.js'
import type { ApiObject } from '../../meta/api-object.js'
import type { Column } from '../../columns.js'
import type { Subresource } from '../../subresource.js'
import { selectorText } from '../../selectors/objects.js'
import { scaleColumns } from './columns.js'
import { Scale } from './scale.js'
import { invalid } from '../../rules/findings.js'

interface Scaled extends ApiObject {
  spec: { replicas?: number | undefined }
  status: { replicas?: number | undefined }
}

/** @param selectorOf returns the selector of the object's pods */
export const scale = <T extends Scaled>(selectorOf: (object: T) => LabelSelector | undefined): Subresource => ({
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  view: {
    message: Scale,
    columns: scaleColumns as ReadonlyArray<Column<ApiObject>>, // `read` returns a Scale
    read: object => read(object as T, selectorOf), // an object of the parent resource
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
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(([, value]) =>
      value !== undefined)
  )
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas: spec.replicas },
    status: { replicas: status.replicas ?? 0, ...(selector === '' ? {} : { selector }) }
  }
}
