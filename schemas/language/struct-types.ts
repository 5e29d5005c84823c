/** How server-side apply merges structures: by member, or as a whole. Releases have changed it for a few. */
import type { Gates } from '../gates.js'
import { anywhere, type PlannedField } from './plan.js'
import { Facts, type Declaration, type StructType } from './types.js'

type Emulated = Pick<Gates, 'enabled'>
type Merging = 'atomic' | 'granular' | undefined

function inRelease (structType: StructType | undefined, { enabled }: Emulated): Merging {
  if (typeof structType !== 'object') return structType
  return enabled(structType.since) ? structType.becomes : undefined
}

/** What the field says; undefined if it leaves that to its message. */
export const structTypeOfField = (field: PlannedField['field'], gates: Emulated) => inRelease(field.structType, gates)

/** Undefined stands for granular. */
export function structTypeOf ({ structType, formerly }: Declaration, gates: Emulated): Merging {
  if (formerly !== undefined && !gates.enabled(formerly.until)) return structTypeOf(formerly.message[Facts], gates)
  return inRelease(structType, gates)
}

const differs = ({ field, innermost: { message } }: PlannedField): boolean => typeof field.structType === 'object' ||
  (message !== undefined && (typeof message.structType === 'object' || (message.formerly !== undefined &&
    message.formerly.message[Facts].structType !== message.structType)))

/** Whether a structure below merges otherwise in another release. */
export const mergesByRelease = anywhere(({ fields }) => fields.some(differs))
