/** Options of calls to other servers. */
import type { CallerCredentials, Endpoint, Material } from '../../clients/kubeconfig.js'
import { either, members, needed, secret, secretString, string, url, type Option, as } from '../option.js'
import { bool } from '../flag.js'

/** A file, or its contents. */
export const material: Option<Material> = either(
  members<Extract<Material, { data: string }>>({ data: needed(secretString) }),
  members<Extract<Material, { path: string }>>({ path: needed(string()) }))

const credentials: Option<CallerCredentials> = members<CallerCredentials>({
  certificate: material,
  key: material,
  token: secretString,
  tokenFile: string(),
  basic: members<NonNullable<CallerCredentials['basic']>>({ username: needed(string()), password: needed(secret(string())) })
})

export const endpoint: Option<Endpoint> = members<Endpoint>({
  server: needed(url),
  authority: material,
  insecure: needed(as(bool(false, ''))),
  serverName: string(),
  proxy: url,
  credentials: needed(credentials)
})
