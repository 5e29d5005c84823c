/**
 * `--runtime-config`: which built-in API versions are served. A key is `api/all`, `api/ga`, `api/beta`,
 * `api/alpha`, or a version by name, `v1` for the core group. The more particular key wins.
 *
 * @see interface, 'API groups and versions' 2 and 'Served versions removed', last sentence
 */
import { RELEASE_NAME } from '../release.js'
import { FlagError } from './flag.js'
import { UNSERVED } from './unbuilt.js'

const SERVED = ['v1', 'rbac.authorization.orch.io/v1']
const STAGES = ['ga', 'beta', 'alpha'] as const

const stageOf = (groupVersion: string): (typeof STAGES)[number] =>
  groupVersion.includes('alpha') ? 'alpha' : groupVersion.includes('beta') ? 'beta' : 'ga'

/**
 * The group versions that are switched off (`rbac.authorization.orch.io/v1`, `v1`).
 * @throws FlagError for an unknown key and for one that asks for a version not built yet
 */
export function disabledGroupVersions (settings: ReadonlyMap<string, string>, text: string | undefined): string[] {
  const on = new Map([...settings].map(([key, value]) => [key === 'api/v1' ? 'v1' : key, value.toLowerCase() === 'true']))
  const known = [...SERVED, ...UNSERVED]
  const refuse = (key: string, mend: string): never => { throw new FlagError('runtime-config', text, `${key} ${mend}`) }
  for (const [key, value] of on) {
    if (key === 'api/all' || STAGES.some(stage => key === `api/${stage}`)) continue
    if (!known.includes(key)) refuse(key, `is no API version of release ${RELEASE_NAME}; name one as GROUP/VERSION, or api/all, api/ga, api/beta, api/alpha`)
    if (value && UNSERVED.has(key)) refuse(key, 'is not supported by this version yet; leave it out')
  }
  const wanted = (groupVersion: string): boolean => {
    const stage = stageOf(groupVersion)
    return on.get(groupVersion) ?? on.get(`api/${stage}`) ?? on.get('api/all') ?? stage !== 'alpha'
  }
  const extra = [...UNSERVED].find(groupVersion => stageOf(groupVersion) === 'alpha' && wanted(groupVersion))
  if (extra !== undefined) refuse(extra, 'is not supported by this version yet; add api/alpha=false')
  return SERVED.filter(groupVersion => !wanted(groupVersion))
}
