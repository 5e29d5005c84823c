/**
 * `--runtime-config`: which built-in APIs are served. A key is `api/all`, `api/ga`, `api/beta`, `api/alpha`, a version by name
 * (`apps/v1`, and `v1` for the core group), or one resource of a version (`apps/v1/daemonsets`). The more particular key wins.
 *
 * @see interface, 'API groups and versions' 2 and 'Served versions removed', last sentence
 */
import { RELEASE_NAME } from '../schemas/meta/release.js'
import { stageOf, STAGES } from '../schemas/groups.js'
import { API_VERSIONS, representations } from '../schemas/resources.js'
import { FlagError } from './flag.js'

/**
 * What is switched off: versions (`rbac.authorization.orch.io/v1`, `v1`) and resources of those that are on (`apps/v1/daemonsets`).
 * @throws FlagError for an unknown key
 */
export function disabledApis (settings: ReadonlyMap<string, string>, text: string | undefined): string[] {
  const on = new Map([...settings].map(([key, value]) => [key.replace(/^api\/v1(?=$|\/)/, 'v1'), value.toLowerCase() === 'true']))
  const resources = representations.map(({ apiVersion, plural }) => ({ apiVersion, name: `${apiVersion}/${plural}` }))
  for (const key of on.keys()) {
    if (key === 'api/all' || STAGES.some(stage => key === `api/${stage}`) || API_VERSIONS.includes(key) || resources.some(({ name }) => name === key)) continue
    throw new FlagError('runtime-config', text, `${key} is no API version of release ${RELEASE_NAME}; name one as GROUP/VERSION, a resource as GROUP/VERSION/RESOURCE, or api/all, api/ga, api/beta, api/alpha`)
  }
  const wanted = (apiVersion: string): boolean => {
    const stage = stageOf(apiVersion)
    return on.get(apiVersion) ?? on.get(`api/${stage}`) ?? on.get('api/all') ?? stage !== 'alpha'
  }
  const versions = API_VERSIONS.filter(apiVersion => !wanted(apiVersion) && !resources.some(({ name, apiVersion: of }) => of === apiVersion && on.get(name) === true))
  const off = new Set(versions)
  return [...versions, ...resources.filter(({ apiVersion, name }) => !off.has(apiVersion) && !(on.get(name) ?? wanted(apiVersion))).map(({ name }) => name)]
}
