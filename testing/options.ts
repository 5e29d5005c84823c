/** Options of a test server that no server has, and patterns of requests: what is unknown is refused with its path. */
import { OptionError } from '../app.js'
import { didYouMean } from '../config/suggestions.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { TestServerOptions } from './contract.js'
import type { ExchangeMatch } from './exchanges.js'
import type { RequestMatch } from './match.js'
import type { WebhookOptions } from './webhooks.js'

const OPTIONS: Readonly<Record<keyof TestServerOptions, true>> = {
  fixtures: true, port: true, tls: true, user: true, now: true, from: true, forkAhead: true, faults: true, seed: true,
  exchanges: true, log: true, release: true, server: true,
  simulate: true
}

const MATCH: Readonly<Record<keyof RequestMatch, true>> = {
  method: true, verb: true, url: true, group: true, resource: true, namespace: true, name: true, user: true
}
const EXCHANGE: Readonly<Record<keyof ExchangeMatch, true>> = { ...MATCH, status: true, body: true }

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put']
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']

/** @throws OptionError */
export function checkOptions (options: TestServerOptions): void {
  checkMembers(options, Object.keys(OPTIONS), '')
  if (options.now !== undefined && !(options.now instanceof Date && !Number.isNaN(options.now.getTime()))) {
    throw new OptionError('now', undefined, 'must be a valid Date')
  }
  if (options.from !== undefined && (typeof options.from !== 'object' || options.from === null)) {
    throw new OptionError('from', undefined, 'must be a snapshot of a test server')
  }
}

const WEBHOOKS: Readonly<Record<keyof WebhookOptions, true>> = { port: true, url: true, certDir: true }

/** @throws OptionError */
export function checkWebhookOptions (options: WebhookOptions): void {
  checkMembers(options, Object.keys(WEBHOOKS), '')
  const { port, url, certDir } = options
  if (port !== undefined && url !== undefined) throw new OptionError('port', undefined, 'is part of url: give one')
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
    throw new OptionError('port', JSON.stringify(port), 'must be a port from 1 to 65535')
  }
  if (url !== undefined && !/^https:\/\/[^?#@]+$/.test(URL.canParse(url) ? url : '')) {
    throw new OptionError('url', JSON.stringify(url), 'must be a URL such as https://127.0.0.1:9443')
  }
  if (certDir === '') throw new OptionError('certDir', '""', 'must be the path of a folder')
}

/** @param at the path of the pattern, for errors @throws OptionError */
export function checkMatch (match: RequestMatch, at: string, isExchange = false): void {
  checkMembers(match, Object.keys(isExchange ? EXCHANGE : MATCH), at)
  checkOneOf(match.verb, VERBS, `${at}.verb`)
  checkOneOf(match.method?.toUpperCase(), METHODS, `${at}.method`)
}

/** @throws OptionError for a resource that the server does not have now */
export function checkResource ({ resource }: RequestMatch, at: string, resources: ResourceRegistry): void {
  if (resource === undefined) return
  const [plural = ''] = resource.split('/')
  const known = [...new Set(resources.served().map(({ representation }) => representation.plural))]
  if (known.includes(plural)) return
  throw new OptionError(
    `${at}.resource`, JSON.stringify(resource),
    `is no resource of this server, which are named by their plural${didYouMean(plural, known)}`
  )
}

export function checkMembers (given: object, known: readonly string[], at: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    throw new OptionError(
      at === '' ? name : `${at}.${name}`, undefined,
      `there is no such member; there are ${known.join(', ')}${didYouMean(name, known)}`
    )
  }
}

export function checkOneOf (value: string | undefined, known: readonly string[], at: string): void {
  if (value === undefined || known.includes(value)) return
  throw new OptionError(at, JSON.stringify(value), `must be one of ${known.join(', ')}${didYouMean(value, known)}`)
}
