/** The status of a StorageVersion, as one server changes it. */
import type {
  ServerStorageVersion, StorageVersion, StorageVersionCondition
} from '../schemas/api/internal/storageversions.js'

const TYPE = 'AllEncodingVersionsEqual'

/**
 * Adds or replaces the entry of a server, and derives from all entries whether their encoding versions are equal.
 * @param now RFC 3339
 */
export function withServer (
  { metadata: { generation }, status }: Pick<StorageVersion, 'metadata' | 'status'>, own: ServerStorageVersion,
  now: string
): StorageVersion['status'] {
  const { storageVersions: before = [], commonEncodingVersion, conditions = [] } = status
  const isListed = before.some(({ apiServerID }) => apiServerID === own.apiServerID)
  const storageVersions = isListed
    ? before.map(version => version.apiServerID === own.apiServerID ? own : version)
    : [...before, own]
  const common = storageVersions.every(({ encodingVersion }) => encodingVersion === own.encodingVersion)
    ? own.encodingVersion
    : undefined
  const previous = conditions.find(({ type }) => type === TYPE)
  const condition: StorageVersionCondition = {
    type: TYPE,
    ...common === undefined
      ? { status: 'False', reason: 'CommonEncodingVersionUnset', message: 'Common encoding version unset' }
      : { status: 'True', reason: 'CommonEncodingVersionSet', message: 'Common encoding version set' },
    ...generation === undefined ? {} : { observedGeneration: generation }
  }
  const replaced = commonEncodingVersion !== undefined && common !== undefined && commonEncodingVersion !== common
  condition.lastTransitionTime = previous?.status === condition.status && !replaced ? previous.lastTransitionTime : now
  return {
    storageVersions,
    ...common === undefined ? {} : { commonEncodingVersion: common },
    conditions: previous === undefined
      ? [...conditions, condition]
      : conditions.map(candidate => candidate === previous ? condition : candidate)
  }
}
