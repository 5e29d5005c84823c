/**
 * The authorizers of a configuration, which may be a file that is followed: a new content replaces all of them at once,
 * if it is valid. Those that follow objects begin with the server and stay. Members of system:masters are allowed
 * before any of them is asked.
 */
import type { Having } from '../shared/plugin.js'
import type { AuthorizationMode } from '../../auth/authorization-modes.js'
import type { Authorizer, Ruling } from '../../auth/authorizer.js'
import { followConfiguration } from '../shared/followed-configuration.js'
import type { Metrics } from '../shared/metric-series.js'
import { conditional } from './conditions.js'
import { SUPERUSERS } from './superusers.js'
import type { AuthorizationWebhookOptions } from './webhook.js'

export interface ConfiguredAuthorizer {
  readonly type: AuthorizationMode
  /** In metrics and logs. */
  readonly name: string
  /** Of the type Webhook. */
  readonly webhook?: AuthorizationWebhookOptions & {
    /** Expressions that must all be true of a review; otherwise the webhook has no opinion. */
    readonly conditions: readonly string[]
  }
}

export interface ConfiguredAuthorizersOptions {
  readonly authorizers: readonly ConfiguredAuthorizer[]
  /** The file that they are of. Default: they stay. */
  readonly file?: {
    readonly path: string
    /** What its content says now. Rejects with an Error that says what is wrong. */
    readonly read: () => Promise<readonly ConfiguredAuthorizer[]>
  }
}

const NO_OPINION: Ruling = { decision: 'NoOpinion', reason: '' }

interface Configured {
  readonly all: readonly Authorizer[]
  /** To be started and closed with the server. */
  readonly parts: readonly Authorizer[]
}

/**
 * @param make makes the authorizer of a type
 * @param changed called with the authorizers of a new content
 */
export async function configuredAuthorizers (
  fastify: Having<'orchClock' | 'orchMetrics' | 'orchSettings'>, { authorizers, file }: ConfiguredAuthorizersOptions,
  make: (of: ConfiguredAuthorizer) => Promise<Authorizer>, changed: (all: readonly Authorizer[]) => void
): Promise<Configured> {
  const { orchMetrics: metrics, orchSettings: { outside: { accessReview: shown } } } = fastify
  const lasting = new Map<AuthorizationMode, Authorizer>()
  let webhooks: readonly Authorizer[] = []
  const madeOf = async (given: readonly ConfiguredAuthorizer[]): Promise<{
    all: Authorizer[], webhooks: Authorizer[]
  }> => {
    const authorizers: { all: Authorizer[], webhooks: Authorizer[] } = { all: [SUPERUSERS], webhooks: [] }
    for (const entry of given) {
      const { type, name, webhook } = entry
      const authorizer = lasting.get(type) ?? await make(entry)
      if (webhook === undefined) lasting.set(type, authorizer)
      else authorizers.webhooks.push(authorizer)
      const { conditions = [], failurePolicy = 'NoOpinion' } = webhook ?? {}
      const asked = conditional(authorizer, { name, conditions, failurePolicy, shown }, metrics)
      authorizers.all.push(counted(asked, entry, metrics))
    }
    return authorizers
  }
  const close = async (all: readonly Authorizer[]): Promise<void> => {
    await Promise.all(all.map(webhook => webhook.close?.()))
  }
  const replace = async (): Promise<void> => {
    const next = await madeOf(await file?.read() ?? [])
    for (const webhook of next.webhooks) await webhook.start?.()
    const before = webhooks
    webhooks = next.webhooks
    changed(next.all)
    await close(before)
  }

  const first = await madeOf(authorizers)
  webhooks = first.webhooks
  let end = (): void => {}
  const following: Authorizer = {
    name: 'authorization configuration',
    authorize: () => NO_OPINION,
    start: async () => {
      for (const webhook of webhooks) await webhook.start?.()
      if (file === undefined) return
      const followed = { path: file.path, of: 'authorization', what: 'authorizers', replace } as const
      end = await followConfiguration(followed, { log: fastify.log, metrics, clock: fastify.orchClock })
    },
    close: async () => {
      end()
      await close(webhooks)
    }
  }
  return { all: first.all, parts: [...lasting.values(), following] }
}

/** The authorizer with its decisions counted. */
function counted (authorizer: Authorizer, { type, name }: ConfiguredAuthorizer, metrics: Metrics): Authorizer {
  const decisions = metrics.counter(
    'apiserver_authorization_decisions_total', 'Decisions of authorizers.', ['type', 'name', 'decision']
  )
  const [allowed, denied] = [decisions.with(type, name, 'allowed'), decisions.with(type, name, 'denied')]
  const count = (ruling: Ruling): Ruling => {
    if (ruling.decision !== 'NoOpinion') (ruling.decision === 'Allow' ? allowed : denied).add()
    return ruling
  }
  const { rules, explain, advise } = authorizer
  return {
    name,
    authorize: attributes => {
      const ruling = authorizer.authorize(attributes)
      return ruling instanceof Promise ? ruling.then(count) : count(ruling)
    },
    ...(rules === undefined ? {} : { rules: (user, namespace) => rules.call(authorizer, user, namespace) }),
    ...(explain === undefined ? {} : { explain: attributes => explain.call(authorizer, attributes) }),
    ...(advise === undefined ? {} : { advise: (attributes, ask) => advise.call(authorizer, attributes, ask) })
  }
}
