/** When a server publishes its storage versions. */
import type { Gates } from '../../gates.js'
import { storageVersions } from './storageversions.js'

const { stored: { apiVersion, plural } } = storageVersions

/**
 * True if both feature gates are on and StorageVersions are served. Upstream with the gates alone never becomes ready.
 * @param disabledApis `group/version` and `group/version/plural` that are not served
 */
export const publishesStorageVersions = (
  { enabled }: Pick<Gates, 'enabled'>, disabledApis: ReadonlySet<string>
): boolean =>
  enabled('StorageVersionAPI') && enabled('APIServerIdentity') && !disabledApis.has(apiVersion) &&
    !disabledApis.has(`${apiVersion}/${plural}`)
