/** Types that are not resources: RangeAllocation is kept in the store, SerializedReference in annotations. */
import { bytes, one, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { ObjectReference } from './references.js'
import { kind } from './package.js'

export type RangeAllocation = Static<typeof RangeAllocation>
export const RangeAllocation = kind('RangeAllocation', 'Which addresses or ports of a range are taken.', {
  metadata,
  range: string(2, 'The range, such as 10.0.0.0/24 for addresses.', { required: true }),
  data: bytes(3, 'Bitmap of the addresses or ports that are taken.', { required: true })
})

export type SerializedReference = Static<typeof SerializedReference>
export const SerializedReference =
  kind('SerializedReference', 'A reference to an object, written out in an annotation.', {
    reference: one(1, 'The object that is referred to.', ObjectReference)
  })
