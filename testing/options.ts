/** Options of a test server that no server has, and patterns of requests: what is unknown is refused with its path. */
import { OptionError } from '../app.js'
import { didYouMean } from '../config/suggestions.js'
import type { TestServerOptions } from './contract.js'
import type { ExchangeMatch, NextOptions } from './exchanges.js'
import type { Fault } from './faults.js'
import type { Known } from './load.js'
import type { RequestMatch } from './match.js'
import type { TestUser } from './users.js'
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

const FAULT: Readonly<Record<keyof Fault, true>> = {
  on: true, skip: true, times: true, probability: true, name: true, delay: true, status: true, retryAfter: true,
  disconnect: true, stale: true, staleReads: true, duplicate: true
}
const NEXT: Readonly<Record<keyof NextOptions, true>> = { within: true }
const USER: Readonly<Record<keyof TestUser, true>> = { username: true, groups: true, uid: true, extra: true }

/** What would let a fault hit other requests than the test means. @throws OptionError */
export function checkFault (fault: Fault): void {
  checkMembers(fault, Object.keys(FAULT), '')
  const { skip, times, probability } = fault
  for (const [name, value] of Object.entries({ skip, times })) {
    if (value === undefined || value === Infinity || (Number.isInteger(value) && value >= 0)) continue
    throw new OptionError(name, JSON.stringify(value), 'must be a number of requests')
  }
  if (probability !== undefined && !(typeof probability === 'number' && probability >= 0 && probability <= 1)) {
    throw new OptionError('probability', JSON.stringify(probability), 'must be a number from 0 to 1')
  }
}

/** @throws OptionError, as a wait without its limit may never end */
export function checkNext (options: NextOptions): void { checkMembers(options, Object.keys(NEXT), '') }

/** @throws OptionError, as a user without what was meant is another one */
export function checkUser (user: TestUser): void {
  checkMembers(user, Object.keys(USER), 'user')
  if (typeof user.username !== 'string' || user.username === '') {
    throw new OptionError('user.username', JSON.stringify(user.username), 'must be a name')
  }
}

/** @param at the path of the pattern, for errors @throws OptionError */
export function checkMatch (match: RequestMatch, at: string, isExchange = false): void {
  checkMembers(match, Object.keys(isExchange ? EXCHANGE : MATCH), at)
  checkOneOf(match.verb, VERBS, `${at}.verb`)
  checkOneOf(match.method?.toUpperCase(), METHODS, `${at}.method`)
}

/** @throws OptionError for a group or a resource that the server does not have now */
export function checkResource ({ group, resource }: RequestMatch, at: string, { resources, otherGroup }: Known): void {
  const representations = resources.served().map(({ representation }) => representation)
  if (group !== undefined) {
    const known = [...new Set(representations.flatMap(({ group }) => [group, otherGroup?.(group) ?? group]))]
    if (!known.includes(group)) {
      throw new OptionError(
        `${at}.group`, JSON.stringify(group), `is no group of this server${didYouMean(group, known)}`
      )
    }
  }
  if (resource === undefined) return
  const [plural = ''] = resource.split('/')
  const known = [...new Set(representations.map(({ plural }) => plural))]
  if (known.includes(plural)) return
  throw new OptionError(
    `${at}.resource`, JSON.stringify(resource),
    `is no resource of this server, which are named by their plural${didYouMean(plural, known)}`
  )
}

/**
 * For patterns of what came or may come, whose resource may not be there yet: `pod` for `pods` would match nothing and
 * prove nothing.
 * @throws OptionError for a kind, a singular or a short name
 */
export function checkPlural ({ resource }: RequestMatch, at: string, { resources }: Known): void {
  if (resource === undefined) return
  const [given = ''] = resource.toLowerCase().split('/')
  const named = resources.served().map(({ representation }) => representation).filter(({ plural, ...names }) =>
    plural === given || [names.kind.toLowerCase(), names.singular, ...names.shortNames].includes(given))
  const [first] = named
  if (first === undefined || named.some(({ plural }) => plural === resource.split('/')[0])) return
  throw new OptionError(
    `${at}.resource`, JSON.stringify(resource), `resources are named by their plural; did you mean ${first.plural}?`
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
