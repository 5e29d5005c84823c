/**
 * `--runtime-config`: the built-in APIs to serve. A key is `api/all`, `api/ga`, `api/beta`, `api/alpha`, a version
 * (`apps/v1`, `v1` for the core group), or a resource of a version (`apps/v1/daemonsets`). The most specific key
 * counts.
 * @see interface, 'API groups and versions' 2 and 'Served versions removed', last sentence
 */
import { stageOf, STAGES } from '../schemas/groups.js'
import { API_VERSIONS, OFF_BY_DEFAULT, representations } from '../schemas/resources.js'
import { FlagError } from './flag.js'
import { apiProblem } from './resource-names.js'

/** A key as the declarations write it: `v1` for `api/v1` and `/v1`. */
export const keyOf = (key: string): string => key.replace(/^(?:api)?\/v1(?=$|\/)/, 'v1')

export const isOn = (value: string): boolean => value.toLowerCase() === 'true'

/**
 * Returns disabled versions (`rbac.authorization.orch.io/v1`, `v1`) and disabled resources of enabled versions
 * (`apps/v1/daemonsets`).
 * @throws FlagError for an unknown key, or if nothing is left
 */
export function disabledApis (settings: ReadonlyMap<string, string>, text: string | undefined): string[] {
  const on = new Map([...settings].map(([key, value]) => [keyOf(key), isOn(value)]))
  const resources = representations.map(({ apiVersion, plural }) => ({ apiVersion, name: `${apiVersion}/${plural}` }))
  for (const key of on.keys()) {
    if (key === 'api/all' || STAGES.some(stage => key === `api/${stage}`)) continue
    const problem = apiProblem(key)
    if (problem !== undefined) {
      throw new FlagError('runtime-config', text, `${key} ${problem}, or api/all, api/ga, api/beta, api/alpha`)
    }
  }
  if (on.size === 1 && on.get('api/all') === false) {
    throw new FlagError('runtime-config', text, 'switches everything off; name what to serve, such as api/ga=true')
  }
  const isEnabled = (apiVersion: string, name = apiVersion): boolean => on.get(apiVersion) ??
    on.get(`api/${stageOf(apiVersion)}`) ?? on.get('api/all') ??
    !(OFF_BY_DEFAULT.includes(apiVersion) || OFF_BY_DEFAULT.includes(name))
  const versions = API_VERSIONS.filter(apiVersion => !isEnabled(apiVersion) &&
    !resources.some(({ name, apiVersion: of }) => of === apiVersion && on.get(name) === true))
  const off = new Set(versions)
  return [...versions, ...resources.filter(({ apiVersion, name }) => !off.has(apiVersion) &&
    !(on.get(name) ?? isEnabled(apiVersion, name))).map(({ name }) => name)]
}
