/** Response types that are not resources: Status, watch events, partial objects, tables. */
import { int32, int64, one, string, list, type Static } from '../language/declare.js'
import { RawExtension } from './runtime.js'
import { message, kind, unversioned } from './package.js'
import { ListMeta, ObjectMeta } from './object.js'
import { Anything, Time } from './scalars.js'

const THREE_STATES = ['True', 'False', 'Unknown'] as const

export const Condition = message('Condition', 'One aspect of the observed state.', {
  type: string(1, 'The aspect.', { required: true, mayBeEmpty: true }),
  status: string(2, 'Whether it holds.', { required: true, mayBeEmpty: true, values: THREE_STATES }),
  observedGeneration: int64(3, 'The generation of the object this was seen at.'),
  lastTransitionTime: one(4, 'When status last changed.', Time, { required: true }),
  reason: string(5, 'One word for a machine.', { required: true, mayBeEmpty: true }),
  message: string(6, 'A sentence for a person.', { required: true, mayBeEmpty: true })
})

export const StatusCause = message('StatusCause', 'One reason of a failure.', {
  reason: string(1, 'One word for a machine.', {
    values: [
      'FieldValueNotFound', 'FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid', 'FieldValueNotSupported',
      'UnexpectedServerResponse', 'FieldManagerConflict', 'ResourceVersionTooLarge'
    ]
  }),
  message: string(2, 'A sentence for a person.'),
  field: string(3, 'Path of the field, as in subjects[0].name.')
})

export const StatusDetails = message('StatusDetails', 'What a failure is about.', {
  name: string(1, 'Name of the object.'),
  group: string(2, 'Group of the resource.'),
  kind: string(3, 'The resource or kind.'),
  uid: string(6, 'UID of the object.'),
  causes: list(4, 'The reasons, one by one.', StatusCause),
  retryAfterSeconds: int32(5, 'When it may be tried again.')
})

/** The declaration of Status; its TypeScript interface and constructors are in `status.ts`. */
export const Status = unversioned('Status', 'How a call ended that answers no object.', {
  metadata: one(1, 'Empty, or what a list would say about itself.', ListMeta),
  status: string(2, 'Success or Failure.'),
  message: string(3, 'A sentence for a person.'),
  reason: string(4, 'One word for a machine.', {
    values: [
      '', 'Unauthorized', 'Forbidden', 'NotFound', 'AlreadyExists', 'Conflict', 'Gone', 'Invalid', 'ServerTimeout',
      'Timeout', 'TooManyRequests', 'BadRequest', 'MethodNotAllowed', 'NotAcceptable', 'RequestEntityTooLarge',
      'UnsupportedMediaType', 'InternalError', 'Expired', 'ServiceUnavailable'
    ]
  }),
  details: one(5, 'More about the failure.', StatusDetails, { pointer: true }),
  code: int32(6, 'The HTTP status code.')
})

export const WatchEvent = message('WatchEvent', 'One change.', {
  type: string(1, 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.', { required: true }),
  object: one(
    2, 'The object after the change, before it when DELETED; a Status when ERROR.', RawExtension, { required: true }
  )
})

export type PartialObjectMetadata = Static<typeof PartialObjectMetadata>
export const PartialObjectMetadata = kind('PartialObjectMetadata', 'The metadata of an object of any kind.', {
  metadata: one(1, 'The metadata.', ObjectMeta)
})

export const PartialObjectMetadataList = kind('PartialObjectMetadataList', 'The metadata of several objects.', {
  metadata: one(1, 'About the list.', ListMeta),
  items: list(2, 'The objects.', PartialObjectMetadata, { required: true })
})

export const List = unversioned('List', 'Objects of any kinds, as tools pass them around.', {
  metadata: one(1, 'About the list.', ListMeta),
  items: list(2, 'The objects.', RawExtension, { required: true })
})

const noProtobuf = { protobuf: false } as const

export type TableColumnDefinition = Static<typeof TableColumnDefinition>
export const TableColumnDefinition = message('TableColumnDefinition', 'One column.', {
  name: string(null, 'Heading.', { required: true }),
  type: string(null, 'Type of the cells, as in OpenAPI.', { required: true }),
  format: string(null, 'Format of the cells; "name" marks the name of the object.', {
    required: true, mayBeEmpty: true
  }),
  description: string(null, 'What the column shows.', { required: true, mayBeEmpty: true }),
  priority: int32(null, '0 is always shown, more only where there is room.', { required: true })
}, noProtobuf)

export type TableRowCondition = Static<typeof TableRowCondition>
export const TableRowCondition =
  message('TableRowCondition', 'A state of the object that changes how its row is shown.', {
    type: string(null, 'The state.', { required: true, values: ['Completed'] }),
    status: string(null, 'Whether it holds.', { required: true, values: THREE_STATES }),
    reason: string(null, 'One word for a machine.'),
    message: string(null, 'A sentence for a person.')
  }, noProtobuf)

export const TableRow = message('TableRow', 'One object as cells.', {
  cells: list(null, 'In the order of the columns.', Anything, { required: true }),
  conditions: list(null, 'States that change how the row is shown.', TableRowCondition),
  object: one(null, 'The object, or its metadata, or nothing.', RawExtension)
}, noProtobuf)

export const Table = kind('Table', 'Objects as rows of printable cells.', {
  metadata: one(null, 'About the list.', ListMeta),
  columnDefinitions: list(null, 'The columns.', TableColumnDefinition, { required: true }),
  rows: list(null, 'The objects.', TableRow, { required: true })
}, noProtobuf)
