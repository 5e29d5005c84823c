/** Options of calls to other servers. */
import type { CallerCredentials, Endpoint, Material } from '../../clients/kubeconfig.js'
import { bool } from '../flag.js'
import { fromFlag, members, needed, secret, secretString, string, url, type Option } from '../option.js'
import { certificates, privateKey } from './files.js'

/** A file, or its contents. */
const material = (data: Option<string>): Option<Material> => {
  const text = members<Extract<Material, { data: string }>>({ data: needed(data) })
  const file = members<Extract<Material, { path: string }>>({ path: needed(string()) })
  return { check: (value, path) => { (typeof value === 'object' && value !== null && 'data' in value ? text : file).check(value, path) } }
}

export const certificateMaterial = material(certificates)
export const keyMaterial = material(privateKey)

const credentials: Option<CallerCredentials> = members<CallerCredentials>({
  certificate: certificateMaterial,
  key: keyMaterial,
  token: secretString,
  tokenFile: string(),
  basic: members<NonNullable<CallerCredentials['basic']>>({ username: needed(string()), password: needed(secret(string())) })
})

export const endpoint: Option<Endpoint> = members<Endpoint>({
  server: needed(url),
  authority: certificateMaterial,
  insecure: needed(fromFlag(bool(false, ''))),
  serverName: string(),
  proxy: url,
  credentials: needed(credentials)
})
