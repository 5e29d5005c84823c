/** What a VolumeAttachment has to keep to. */
import type { Report } from '../../language/types.js'
import { dnsSubdomain } from '../../names.js'
import { forbidden, named, required, tooLong } from '../../rules/findings.js'
import { validateDriver } from '../core/persistent-source-rules.js'
import { validateInlineVolumeSpec } from '../core/persistentvolume-rules.js'
import { validateEntries } from './class-rules.js'
import type { VolumeAttachmentSource, VolumeAttachmentSpec, VolumeAttachmentStatus } from './volumeattachments.js'

const MOST_MESSAGE = 1024

export function validateAttachmentSource ({ persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource, at: string, report: Report): void {
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (name === undefined && inline === undefined) required(report, at, exactlyOne)
  else if (name !== undefined && inline !== undefined) forbidden(report, at, exactlyOne)
  else if (name === '') required(report, `${at}.persistentVolumeName`, 'must not be empty')
  if (inline !== undefined && name === undefined) validateInlineVolumeSpec(inline, `${at}.inlineVolumeSpec`, report)
}

/** Of new ones: names that can be. */
export function validateNewAttachment ({ attacher, source }: VolumeAttachmentSpec, report: Report): void {
  validateDriver(attacher, 'spec.attacher', report)
  if (source.persistentVolumeName) named(report, 'spec.source.persistentVolumeName', source.persistentVolumeName, dnsSubdomain)
}

export function validateAttachmentStatus ({ attachmentMetadata = {}, attachError, detachError }: VolumeAttachmentStatus, at: string, report: Report): void {
  validateEntries(attachmentMetadata, `${at}.attachmentMetadata`, report)
  if (Buffer.byteLength(attachError?.message ?? '') > MOST_MESSAGE) tooLong(report, `${at}.attachError.message`, MOST_MESSAGE)
  if (Buffer.byteLength(detachError?.message ?? '') > MOST_MESSAGE) tooLong(report, `${at}.detachError.message`, MOST_MESSAGE)
}
