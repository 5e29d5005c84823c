/**
 * Reads kubeconfig files: server, TLS verification and credentials. Paths are relative to the file's folder. Inline
 * data takes precedence over paths; among entries with the same name, the first counts. Unsupported fields are errors:
 * a call without its credential would act as another user.
 */
import { dirname, resolve } from 'node:path'
import { parseYaml } from '../schemas/codec/yaml/yaml.js'
import { isDecodeError, saidOf } from '../schemas/language/decode-error.js'
import { ClientError, reasonOf } from './errors.js'
import { ordinaryBytes } from './watched-files.js'

/** PEM text, or a file with it. */
export type Material = { readonly data: string } | { readonly path: string }

export interface CallerCredentials {
  readonly certificate: Material | undefined
  readonly key: Material | undefined
  readonly token: string | undefined
  /** Takes precedence over `token` while it is readable. */
  readonly tokenFile: string | undefined
  readonly basic: { readonly username: string, readonly password: string } | undefined
}

export interface Endpoint {
  /** http or https; its path is prepended to each call's. */
  readonly server: URL
  /** Undefined for the system roots. */
  readonly authority: Material | undefined
  /** True skips certificate verification. */
  readonly insecure: boolean
  /** Expected name in the certificate, if not the host of `server`. */
  readonly serverName: string | undefined
  /** An http or https proxy, used with CONNECT. */
  readonly proxy: URL | undefined
  readonly credentials: CallerCredentials
}

export interface Kubeconfig {
  /** For errors. */
  readonly path: string
  readonly currentContext: string
  readonly clusters: ReadonlyMap<string, Fields>
  readonly users: ReadonlyMap<string, Fields>
  readonly contexts: ReadonlyMap<string, Fields>
}

type Fields = Readonly<Record<string, unknown>>

export const NO_CREDENTIALS: CallerCredentials = {
  certificate: undefined, key: undefined, token: undefined, tokenFile: undefined, basic: undefined
}

const CLUSTER_FIELDS = new Set([
  'server', 'tls-server-name', 'insecure-skip-tls-verify', 'certificate-authority', 'certificate-authority-data',
  'proxy-url', 'disable-compression', 'extensions'
])
const USER_FIELDS = new Set([
  'client-certificate', 'client-certificate-data', 'client-key', 'client-key-data', 'token', 'tokenFile', 'username',
  'password', 'extensions'
])

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null &&
  !Array.isArray(value)

/** @throws ClientError 'Config' */
export async function readKubeconfig (path: string): Promise<Kubeconfig> {
  const bytes = await ordinaryBytes(path).catch((cause: unknown) => {
    throw new ClientError('Config', `kubeconfig ${reasonOf(cause)}`, { cause })
  })
  return parseKubeconfig(bytes, path)
}

/** @param path base of relative paths, and name in errors. @throws ClientError 'Config' */
export function parseKubeconfig (bytes: Uint8Array, path: string): Kubeconfig {
  let value: unknown
  try {
    ({ value } = parseYaml(bytes))
  } catch (cause) {
    throw wrong(path, isDecodeError(cause) ? saidOf(cause, 'it') : reasonOf(cause), cause)
  }
  if (!isFields(value)) throw wrong(path, 'it is not an object')
  const { kind = 'Config', apiVersion = 'v1' } = value
  if (kind !== 'Config' || apiVersion !== 'v1') {
    throw wrong(path, `it is a ${String(kind)} of ${String(apiVersion)}, not a Config of v1`)
  }
  return {
    path,
    currentContext: text(value, 'current-context', path, 'the file') ?? '',
    clusters: named(value, 'clusters', 'cluster', path),
    users: named(value, 'users', 'user', path),
    contexts: named(value, 'contexts', 'context', path)
  }
}

/** @throws ClientError 'Config' */
export function endpointOf (config: Kubeconfig, context = config.currentContext): Endpoint {
  const { path } = config
  if (context === '') throw wrong(path, 'it has no current-context')
  const chosen = config.contexts.get(context)
  if (chosen === undefined) throw wrong(path, `there is no context ${JSON.stringify(context)}`)
  const where = `context ${JSON.stringify(context)}`
  const clusterName = text(chosen, 'cluster', path, where)
  const userName = text(chosen, 'user', path, where) ?? ''
  if (clusterName === undefined) throw wrong(path, `${where} names no cluster`)
  const cluster = config.clusters.get(clusterName)
  if (cluster === undefined) throw wrong(path, `there is no cluster ${JSON.stringify(clusterName)}`)
  return {
    ...clusterOf(cluster, path, `cluster ${JSON.stringify(clusterName)}`),
    credentials: userName === '' ? NO_CREDENTIALS : credentialsOf(config, userName)
  }
}

/** Credentials of the named user. @throws ClientError 'Config' */
export function credentialsOf ({ users, path }: Kubeconfig, name: string): CallerCredentials {
  const user = users.get(name)
  const where = `user ${JSON.stringify(name)}`
  if (user === undefined) throw wrong(path, `there is no ${where}`)
  for (const field of Object.keys(user)) {
    if (!USER_FIELDS.has(field)) throw wrong(path, `${field} of ${where} is not supported`)
  }
  const certificate = material(user, 'client-certificate', path, where)
  const key = material(user, 'client-key', path, where)
  if ((certificate === undefined) !== (key === undefined)) {
    throw wrong(path, `${where} needs client-certificate and client-key together`)
  }
  const token = text(user, 'token', path, where)
  const tokenFile = text(user, 'tokenFile', path, where)
  const username = text(user, 'username', path, where)
  const password = text(user, 'password', path, where)
  if (username === undefined && password !== undefined) throw wrong(path, `${where} has a password and no username`)
  if (username !== undefined && (token ?? tokenFile) !== undefined) {
    throw wrong(path, `${where} has a token and a username, and only one can be sent`)
  }
  // A line break would inject a header.
  if (token !== undefined && !/^[!-~]+$/.test(token)) {
    throw wrong(path, `the token of ${where} has characters that no header can hold`)
  }
  return {
    certificate,
    key,
    token,
    tokenFile: tokenFile === undefined ? undefined : resolve(dirname(path), tokenFile),
    basic: username === undefined ? undefined : { username, password: password ?? '' }
  }
}

/**
 * Credentials for a host, in files whose users are named by host: the host, `*.` and a parent domain, or `*`. Undefined
 * if none matches.
 * @throws ClientError 'Config'
 */
export function credentialsFor (config: Kubeconfig, host: string): CallerCredentials | undefined {
  if (config.users.has(host)) return credentialsOf(config, host)
  for (let rest = host, dot = rest.indexOf('.'); dot >= 0; dot = rest.indexOf('.')) {
    rest = rest.slice(dot + 1)
    if (config.users.has(`*.${rest}`)) return credentialsOf(config, `*.${rest}`)
  }
  return config.users.has('*') ? credentialsOf(config, '*') : undefined
}

function clusterOf (cluster: Fields, path: string, where: string): Omit<Endpoint, 'credentials'> {
  for (const field of Object.keys(cluster)) {
    if (!CLUSTER_FIELDS.has(field)) throw wrong(path, `${field} of ${where} is not supported`)
  }
  const server = text(cluster, 'server', path, where)
  if (server === undefined) throw wrong(path, `${where} has no server`)
  const authority = material(cluster, 'certificate-authority', path, where)
  const insecure = cluster['insecure-skip-tls-verify'] ?? false
  if (typeof insecure !== 'boolean') throw wrong(path, `insecure-skip-tls-verify of ${where} is not true or false`)
  if (insecure && authority !== undefined) {
    throw wrong(path, `${where} has a certificate-authority and insecure-skip-tls-verify, which contradict each other`)
  }
  const proxy = text(cluster, 'proxy-url', path, where)
  return {
    server: url(server, 'server', path, where),
    authority,
    insecure,
    serverName: text(cluster, 'tls-server-name', path, where),
    proxy: proxy === undefined ? undefined : url(proxy, 'proxy-url', path, where)
  }
}

function url (value: string, field: string, path: string, where: string): URL {
  // As in kubectl, the default scheme is http.
  const whole = value.includes('://') ? value : `http://${value}`
  if (!URL.canParse(whole)) throw wrong(path, `${field} of ${where} is not a URL`)
  const url = new URL(whole)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw wrong(path, `${field} of ${where}: ${url.protocol.slice(0, -1)} is not supported, http and https are`)
  }
  if (field === 'server' && (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')) {
    throw wrong(path, `server of ${where} may have a host and a path, nothing else`)
  }
  return url
}

function material (fields: Fields, field: string, path: string, where: string): Material | undefined {
  const data = text(fields, `${field}-data`, path, where)
  if (data !== undefined) {
    const decoded = Buffer.from(data, 'base64').toString()
    if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data) || !decoded.includes('-----BEGIN ')) {
      throw wrong(path, `${field}-data of ${where} is not PEM in base64`)
    }
    return { data: decoded }
  }
  const file = text(fields, field, path, where)
  return file === undefined ? undefined : { path: resolve(dirname(path), file) }
}

/** Undefined if missing or empty. */
function text (fields: Fields, field: string, path: string, where: string): string | undefined {
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw wrong(path, `${field} of ${where} is not text`)
  return value
}

/** Entries of a list of `{name, MEMBER}`. */
function named (fields: Fields, list: string, member: string, path: string): Map<string, Fields> {
  const byName = new Map<string, Fields>()
  const entries = fields[list] ?? []
  if (!Array.isArray(entries)) throw wrong(path, `${list} is not a list`)
  for (const entry of entries) {
    if (!isFields(entry) || typeof entry['name'] !== 'string') throw wrong(path, `an entry of ${list} has no name`)
    const value = entry[member] ?? {}
    if (!isFields(value)) throw wrong(path, `${member} ${JSON.stringify(entry['name'])} is not an object`)
    if (!byName.has(entry['name'])) byName.set(entry['name'], value)
  }
  return byName
}

const wrong = (path: string, why: string, cause?: unknown): ClientError =>
  new ClientError('Config', `kubeconfig ${path}: ${why}`, { cause })
