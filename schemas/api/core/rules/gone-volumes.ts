/** Kinds of volumes that went out of use, and the warning about each for pods and for persistent volumes. */
import type { Warn } from '../../../rules/warned.js'
import type { PersistentVolumeSpec } from '../persistentvolumes.js'
import type { PodSpec } from '../pod-spec.js'

interface Gone { readonly ofPod: string, readonly ofVolume: string }

const PLANNED = 'deprecated in v1.22, support removal is planned in v1.26'
const without = (release: string, deprecated: string): Gone =>
  ({ ofPod: `${deprecated}, non-functional in ${release}`, ofVolume: `non-functional in ${release}` })

const GONE = {
  photonPersistentDisk: without('v1.16+', 'deprecated in v1.11'),
  gitRepo: { ofPod: 'deprecated in v1.11', ofVolume: '' }, // of pods alone
  scaleIO: without('v1.22+', 'deprecated in v1.16'),
  flocker: { ofPod: PLANNED, ofVolume: 'non-functional in v1.25+' },
  storageos: { ofPod: PLANNED, ofVolume: 'non-functional in v1.25+' },
  quobyte: { ofPod: PLANNED, ofVolume: 'non-functional in v1.25+' }
} as const
/** Kinds that 1.36 warns of besides. */
const LATER = {
  glusterfs: without('v1.26+', 'deprecated in v1.25'),
  cephfs: without('v1.31+', 'deprecated in v1.28'),
  rbd: without('v1.31+', 'deprecated in v1.28')
} as const

const entries = <T extends object>(table: T): Array<[keyof T & string, Gone]> =>
  Object.entries(table) as Array<[keyof T & string, Gone]>

export function warnOfPodVolumes ({ volumes = [] }: PodSpec, at: string, isLater: boolean, warn: Warn): void {
  const kinds = [...entries(GONE), ...isLater ? entries(LATER) : []]
  for (const [index, volume] of volumes.entries()) {
    for (const [kind, { ofPod }] of kinds) {
      if (volume[kind] === undefined) continue
      // As upstream spells it.
      warn(`${at}.volumes[${index}].${kind === 'storageos' ? 'storageOS' : kind}: ${ofPod}`)
    }
  }
}

export function warnOfVolumeSource (spec: PersistentVolumeSpec, warn: Warn): void {
  const sources = spec as Readonly<Record<string, unknown>> // by name
  for (const [kind, { ofVolume }] of [...entries(GONE), ...entries(LATER)]) {
    if (sources[kind] !== undefined) warn(`spec.${kind}: ${ofVolume}`)
  }
}
