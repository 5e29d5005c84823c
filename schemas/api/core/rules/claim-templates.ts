/** Validation of generic ephemeral volumes. */
import { forbidden, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validateAnnotations, validateLabels } from '../../../meta/metadata.js'
import type { ObjectMeta } from '../../../meta/object.js'
import { refuseAlone } from './persistentvolumes.js'
import type { EphemeralVolumeSource } from '../pod-volumes.js'

const REFUSED: ReadonlyArray<readonly [field: keyof ObjectMeta, name: string]> = [
  ['name', 'name'], ['generateName', 'generateName'], ['namespace', 'namespace'], ['selfLink', 'selfLink'],
  ['uid', 'uID'], ['resourceVersion', 'resourceVersion'], ['generation', 'generation'],
  ['creationTimestamp', 'creationTimestamp'], ['deletionTimestamp', 'deletionTimestamp'],
  ['deletionGracePeriodSeconds', 'deletionGracePeriodSeconds'], ['ownerReferences', 'ownerReferences'],
  ['finalizers', 'finalizers'], ['clusterName', 'zZZ_DeprecatedClusterName'], ['managedFields', 'managedFields']
]

/** Only labels and annotations of the template's metadata apply to the claim. */
export function validateEphemeralVolume (
  { volumeClaimTemplate: template }: EphemeralVolumeSource, at: string, report: Report
): void {
  if (template === undefined) return required(report, `${at}.volumeClaimTemplate`)
  const path = `${at}.volumeClaimTemplate.metadata`
  validateAnnotations(template.metadata.annotations, `${path}.annotations`, report)
  validateLabels(template.metadata.labels, `${path}.labels`, report)
  for (const [field, name] of REFUSED) {
    if (template.metadata[field] !== undefined) {
      forbidden(report, `${path}.${name}`, 'cannot be set for an ephemeral volume')
    }
  }
  refuseAlone(template.spec.accessModes, [], report, `${at}.volumeClaimTemplate.spec.accessModes`)
}
