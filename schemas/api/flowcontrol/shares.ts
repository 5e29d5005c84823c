/**
 * Shares of a priority level in v1 and in the stored form, where 0 would be the default: an annotation says that it was
 * meant.
 */
import type * as v1 from './v1.js'
import type * as v1beta1 from './v1beta1.js'

const GROUP = 'flowcontrol.apiserver.orch.io'
const ZERO = 'flowcontrol.orch.io/v1beta3-preserve-zero-concurrency-shares'
const DEFAULT = 30

/** Of a stored level with limits. */
export const sharesOf = ({ metadata, spec: { limited } }: v1beta1.PriorityLevelConfiguration): number => {
  const shares = limited?.assuredConcurrencyShares ?? DEFAULT
  return shares === DEFAULT && metadata.annotations?.[ZERO] !== undefined ? 0 : shares
}

type Metadata = v1beta1.PriorityLevelConfiguration['metadata']

function marked (metadata: Metadata, isZero: boolean): Metadata {
  if (!isZero && metadata.annotations?.[ZERO] === undefined) return metadata
  const { [ZERO]: _, ...annotations } = metadata.annotations ?? {}
  if (isZero) annotations[ZERO] = ''
  const { annotations: __, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

export function toStored (level: v1.PriorityLevelConfiguration): v1beta1.PriorityLevelConfiguration {
  const { metadata, spec: { limited, ...spec } } = level
  const stored = { ...level, apiVersion: `${GROUP}/v1beta1` }
  if (limited === undefined) return { ...stored, metadata: marked(metadata, false), spec }
  const { nominalConcurrencyShares: shares = DEFAULT, ...rest } = limited
  return {
    ...stored,
    metadata: marked(metadata, shares === 0),
    spec: { ...spec, limited: { ...rest, assuredConcurrencyShares: shares === 0 ? DEFAULT : shares } }
  }
}

export function fromStored (level: v1beta1.PriorityLevelConfiguration): v1.PriorityLevelConfiguration {
  const { metadata, spec: { limited, ...spec } } = level
  const sent = { ...level, apiVersion: `${GROUP}/v1`, metadata: marked(metadata, false) }
  if (limited === undefined) return { ...sent, spec }
  const { assuredConcurrencyShares: _, lendablePercent = 0, ...rest } = limited
  const nominalConcurrencyShares = sharesOf(level)
  return { ...sent, spec: { ...spec, limited: { ...rest, lendablePercent, nominalConcurrencyShares } } }
}
