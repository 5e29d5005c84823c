/** Options of calls to other servers. */
import type { CallerCredentials, Endpoint, Material } from '../../clients/kubeconfig.js'
import { bool } from '../flag.js'
import { fromFlag, members, required, secret, secretString, string, url, type Option } from '../option.js'
import { certificates, privateKey } from './files.js'

/** A file, or its contents. */
const material = (data: Option<string>): Option<Material> => {
  const text = members<Extract<Material, { data: string }>>({ data: required(data) })
  const file = members<Extract<Material, { path: string }>>({ path: required(string()) })
  return {
    check: (value, path) => {
      (typeof value === 'object' && value !== null && 'data' in value ? text : file).check(value, path)
    }
  }
}

export const certificateMaterial = material(certificates)
export const keyMaterial = material(privateKey)

const credentials: Option<CallerCredentials> = members<CallerCredentials>({
  certificate: certificateMaterial,
  key: keyMaterial,
  token: secretString,
  tokenFile: string(),
  basic: members<NonNullable<CallerCredentials['basic']>>({
    username: required(string()), password: required(secret(string()))
  })
})

export const endpoint: Option<Endpoint> = members<Endpoint>({
  server: required(url),
  authority: certificateMaterial,
  insecure: required(fromFlag(bool(false, ''))),
  serverName: string(),
  proxy: url,
  credentials: required(credentials)
})
