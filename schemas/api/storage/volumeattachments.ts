/** VolumeAttachment (v1): attaches a volume to a node. */
import { age, flag, name, text, type Column } from '../../columns.js'
import { int32, map, one, bool, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { PersistentVolumeSpec } from '../core/persistentvolumes.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { dnsSubdomain } from '../../names.js'
import { checkName } from '../../rules/findings.js'
import { validateAttachmentSource, validateAttachmentStatus, validateNewAttachment } from './rules/volumeattachments.js'
import { kind, message } from './package.js'

export type VolumeError = Static<typeof VolumeError>
export const VolumeError = message('VolumeError', 'An error with a volume.', {
  time: one(1, 'When the error happened.', Time),
  message: string(2, 'What went wrong; may be logged, so without secrets.'),
  errorCode: int32(3, 'What went wrong, as a gRPC code.', {
    pointer: true, gate: 'MutableCSINodeAllocatableCount', since: '1.33'
  })
})

export type VolumeAttachmentSource = Static<typeof VolumeAttachmentSource>
export const VolumeAttachmentSource = message('VolumeAttachmentSource', 'The volume to attach; one member is set.', {
  persistentVolumeName: string(1, 'Name of the persistent volume to attach.', { pointer: true }),
  inlineVolumeSpec: one(2, 'Volume given in place, for inline volumes moved to CSI.', PersistentVolumeSpec, {
    pointer: true, ruled: true
  })
}, { validate: (source, at, report) => { validateAttachmentSource(source, at, report) } })

export type VolumeAttachmentSpec = Static<typeof VolumeAttachmentSpec>
export const VolumeAttachmentSpec = message('VolumeAttachmentSpec', 'Which volume is attached, where and by whom.', {
  attacher: string(1, 'Name of the volume driver that has to attach it.', { required: true }),
  source: one(2, 'Volume that is to be attached.', VolumeAttachmentSource, { required: true }),
  nodeName: string(3, 'Node the volume is to be attached to.', { required: true, mayBeEmpty: true })
}, { validate: ({ nodeName }, at, report) => { checkName(report, `${at}.nodeName`, nodeName, dnsSubdomain) } })

export type VolumeAttachmentStatus = Static<typeof VolumeAttachmentStatus>
export const VolumeAttachmentStatus = message('VolumeAttachmentStatus', 'What is observed of an attachment.', {
  attached: bool(1, 'Whether the volume is attached.', { required: true }),
  attachmentMetadata: map(2, 'What the attacher returned for later calls.', 'string'),
  attachError: one(3, 'Last error while attaching, if any.', VolumeError, { pointer: true }),
  detachError: one(4, 'Last error while detaching, if any.', VolumeError, { pointer: true })
}, { validate: (status, at, report) => { validateAttachmentStatus(status, at, report) } })

export type VolumeAttachment = Static<typeof VolumeAttachment>
export const VolumeAttachment = kind('VolumeAttachment', 'Asks for a volume to be attached to a node.', {
  metadata,
  spec: one(2, 'Which volume is attached, where and by whom.', VolumeAttachmentSpec, {
    required: true, immutable: true
  }),
  status: one(3, 'What is observed of the attachment; written by the attacher.', VolumeAttachmentStatus)
}, { validateCreate: ({ spec }, _at, report) => { validateNewAttachment(spec, report) } })

const columns: ReadonlyArray<Column<VolumeAttachment>> = [
  name,
  {
    ...text<VolumeAttachment>('Attacher', 'Driver that has to attach the volume.', ({ spec }) =>
      spec.attacher), format: 'name'
  },
  text('PV', 'Volume that is to be attached.', ({ spec }) => spec.source.persistentVolumeName),
  text('Node', 'Node it is to be attached to.', ({ spec }) => spec.nodeName),
  flag('Attached', 'Whether the volume is attached.', ({ status }) => status.attached),
  age
]

export const volumeAttachments = resource(VolumeAttachment, {
  plural: 'volumeattachments',
  namespaced: false,
  subresources: [
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], notOnUpdate: [],
      keepsMetadata: OWN_METADATA
    }
  ],
  unconditionalUpdate: false,
  deleteReturns: 'Object',
  columns
})
