/**
 * What code finds on the server: decorators are missing until the plugin that provides them has registered, so they are
 * there for the plugins that declare to need them, and for requests.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyPluginOptions } from 'fastify'
import fp, { type PluginMetadata } from 'fastify-plugin'

type Decorator = Extract<keyof FastifyInstance, `orch${string}`>

/** A server in which the plugins that provide these have registered. */
export type Having<Name extends Decorator> = FastifyInstance & Required<Pick<FastifyInstance, Name>>

/** One in which all have; plain limits do without flow control. */
export type Whole = Having<Exclude<Decorator, 'orchFlowControl'>>

/** @throws Error before all have */
export function loadedServer (fastify: FastifyInstance | undefined): Whole {
  if (fastify?.orchConnections === undefined) throw new Error('the server was not loaded')
  return fastify as Whole // `app.ts` registers that of connections last
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
