/** The file of `--authorization-config`, which excludes the flags that it replaces. */
import type { AuthorizationMode } from '../auth/authorization-modes.js'
import type { AuthorizationOptions } from '../plugins/authorization/index.js'
import type { ConfiguredAuthorizer } from '../plugins/authorization/configured.js'
import {
  AUTHORIZATION_CONFIGURATIONS, type AuthorizationConfiguration, type AuthorizationWebhook
} from '../schemas/api/apiserver/authorization.js'
import { parseDuration } from '../schemas/meta/duration.js'
import { readDocument } from './documents.js'
import { sourceOf, type Source } from './public-settings.js'
import { FlagError } from './flag.js'
import { endpointIn } from './kubeconfigs.js'
import type { Parsed } from './command-line.js'

const FLAG = 'authorization-config'
/** Types that follow objects or files, which begins with the server. */
const OF_THE_START: readonly AuthorizationMode[] = ['Node', 'RBAC', 'ABAC']
const NANOSECONDS = 1_000_000n

/** @throws FlagError */
export async function authorizationConfig ({ values, given }: Parsed): Promise<
  Pick<AuthorizationOptions, 'configured'>
> {
  const source = sourceOf(values, FLAG)
  const replaced = [...given.keys()].find(name => name === 'authorization-mode' ||
    name.startsWith('authorization-webhook-'))
  if (replaced !== undefined) throw new FlagError(FLAG, source.path, `excludes --${replaced}: write it into the file`)
  const authorizers = await read(source)
  if (authorizers.some(({ type }) => type === 'ABAC') && values['authorization-policy-file'] === '') {
    throw new FlagError(FLAG, source.path, 'has ABAC, which needs --authorization-policy-file')
  }
  const first = new Set(authorizers.map(({ type }) => type))
  return {
    configured: {
      authorizers,
      file: {
        path: source.path, read: async () => {
          const next = await read(source)
          const added = next.find(({ type }) => OF_THE_START.includes(type) && !first.has(type))
          if (added === undefined) return next
          throw new FlagError(FLAG, source.path, `${added.type} cannot be added without a restart`)
        }
      }
    }
  }
}

async function read (source: Source): Promise<ConfiguredAuthorizer[]> {
  const { authorizers = [] } = readDocument<AuthorizationConfiguration>(source, AUTHORIZATION_CONFIGURATIONS)
  return await Promise.all(authorizers.map(async ({ type, name, webhook }) => ({
    type: type as AuthorizationMode, // validated
    name,
    ...(webhook === undefined ? {} : { webhook: await webhookOf(webhook) })
  })))
}

async function webhookOf (webhook: AuthorizationWebhook): Promise<NonNullable<ConfiguredAuthorizer['webhook']>> {
  const { authorizedTTL = '', unauthorizedTTL = '', cacheAuthorizedRequests, cacheUnauthorizedRequests } = webhook
  return {
    endpoint: await endpointIn(FLAG, webhook.connectionInfo.kubeConfigFile ?? ''),
    version: webhook.subjectAccessReviewVersion === 'v1' ? 'v1' : 'v1beta1',
    authorizedTtl: cacheAuthorizedRequests === false ? 0 : milliseconds(authorizedTTL, 300_000),
    unauthorizedTtl: cacheUnauthorizedRequests === false ? 0 : milliseconds(unauthorizedTTL, 30_000),
    timeout: milliseconds(webhook.timeout ?? '', 30_000),
    failurePolicy: webhook.failurePolicy === 'Deny' ? 'Deny' : 'NoOpinion',
    conditions: (webhook.matchConditions ?? []).map(({ expression }) => expression)
  }
}

/** @param absent what '' and 0 mean */
function milliseconds (duration: string, absent: number): number {
  const nanoseconds = parseDuration(duration) ?? 0n
  return nanoseconds === 0n ? absent : Number(nanoseconds / NANOSECONDS)
}
