/**
 * A plugin, and what code finds on the server: decorators are missing until the plugin that provides them has
 * registered, so they are there for the plugins that declare to need them, and for requests.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyPluginOptions } from 'fastify'
import fp, { type PluginMetadata } from 'fastify-plugin'

type Decorator = Exclude<Extract<keyof FastifyInstance, `orch${string}`>, 'orch'> // that is for hosts

/** A server in which the plugins that provide these have registered. */
export type Having<Name extends Decorator> = FastifyInstance & Required<Pick<FastifyInstance, Name>>

/** One in which all have; plain limits do without flow control. */
export type Whole = Having<Exclude<Decorator, 'orchFlowControl'>>

const ALL: Readonly<Record<Exclude<Decorator, 'orchFlowControl'>, true>> = {
  orchClock: true, orchSettings: true, orchMetrics: true, orchSlowRequests: true, orchEgress: true, orchShutdown: true,
  orchHealth: true, orchBackends: true, orchResources: true, orchServices: true, orchReport: true, orchUnderWay: true,
  orchAuthentication: true, orchAudit: true, orchAuthorization: true, orchConversionCaller: true, orchStandalone: true,
  orchAggregation: true, orchStorageVersions: true, orchConnections: true
}

const isWhole = (fastify: FastifyInstance): fastify is Whole =>
  Object.keys(ALL).every(name => fastify.hasDecorator(name))

/** @throws Error before all have */
export function loadedServer (fastify: FastifyInstance | undefined): Whole {
  if (fastify === undefined || !isWhole(fastify)) throw new Error('the server was not loaded')
  return fastify
}

interface Metadata<Name> {
  readonly name: string
  readonly fastify: string
  readonly encapsulate?: boolean
  readonly dependencies?: readonly string[]
  readonly decorators?: { readonly fastify?: readonly Name[], readonly request?: readonly string[] }
}

/** fastify-plugin's; the function sees those decorators alone that it declares, which Fastify checks at boot. */
export const plugin = <Options extends FastifyPluginOptions = object>() =>
  <Name extends Decorator = never>(
    run: (fastify: Having<Name>, options: Options) => Promise<void>, metadata: Metadata<Name>
  ): FastifyPluginAsync<Options> => fp(run as FastifyPluginAsync<Options>, metadata as unknown as PluginMetadata)
