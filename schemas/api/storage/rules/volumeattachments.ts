/** Validation of VolumeAttachments. */
import type { Report } from '../../../language/types.js'
import { dnsSubdomain } from '../../../names.js'
import { forbidden, checkName, notNegative, required, tooLong } from '../../../rules/findings.js'
import { checkDriverName } from '../../core/rules/network-volumes.js'
import { validateInlineVolumeSpec } from '../../core/rules/persistentvolumes.js'
import { MAX_SIZE, validateSize } from './storageclasses.js'
import type { VolumeAttachmentSource, VolumeAttachmentSpec, VolumeAttachmentStatus } from '../volumeattachments.js'

const MAX_MESSAGE = 1024

export function validateAttachmentSource (
  { persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource, at: string, report: Report
): void {
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (name === undefined && inline === undefined) required(report, at, exactlyOne)
  else if (name !== undefined && inline !== undefined) forbidden(report, at, exactlyOne)
  else if (name === '') required(report, `${at}.persistentVolumeName`, 'must specify non empty persistentVolumeName')
  if (inline !== undefined && name === undefined) validateInlineVolumeSpec(inline, `${at}.inlineVolumeSpec`, report)
}

/** Names are validated on create only. */
export function validateNewAttachment ({ attacher, source }: VolumeAttachmentSpec, report: Report): void {
  checkDriverName(attacher, 'spec.attacher', report)
  if (source.persistentVolumeName !== undefined) {
    checkName(report, 'spec.source.persistentVolumeName', source.persistentVolumeName, dnsSubdomain)
  }
}

export function validateAttachmentStatus (
  { attachmentMetadata = {}, attachError, detachError }: VolumeAttachmentStatus, at: string, report: Report
): void {
  validateSize(attachmentMetadata, `${at}.attachmentMetadata`, report)
  for (const [field, error] of Object.entries({ attachError, detachError })) {
    // Upstream's error states this other limit.
    if (Buffer.byteLength(error?.message ?? '') > MAX_MESSAGE) tooLong(report, `${at}.${field}.message`, MAX_SIZE)
    notNegative(report, `${at}.${field}.errorCode`, error?.errorCode)
  }
}
