/** The file of `--authentication-config`, which excludes the flags that it replaces. */
import type { AuthenticationOptions } from '../plugins/authentication/index.js'
import {
  AUTHENTICATION_CONFIGURATIONS, type AuthenticationConfiguration
} from '../schemas/api/apiserver/authentication.js'
import { ConfigurationError, readConfiguration } from '../admission/configuration.js'
import { readDocument } from './documents.js'
import { sourceOf, type Source } from './public-settings.js'
import { FlagError } from './flag.js'
import type { Values } from './flags/index.js'
import type { Parsed } from './command-line.js'

const FLAG = 'authentication-config'

/** @throws FlagError */
export function authenticationConfig ({ values, given }: Parsed): AuthenticationOptions {
  const source = sourceOf(values, FLAG)
  const oidc = [...given.keys()].find(name => name.startsWith('oidc-'))
  if (oidc !== undefined) throw new FlagError(FLAG, source.path, `excludes --${oidc}: write the issuer into the file`)
  const { jwt = [], anonymous } = read(source, values)
  if (anonymous !== undefined && given.has('anonymous-auth')) {
    throw new FlagError(FLAG, source.path, 'has anonymous, which excludes --anonymous-auth: leave one out')
  }
  return {
    ...(anonymous === undefined ? {} : { anonymous: anonymousOf(anonymous) }),
    jwt: { issuers: jwt, file: { path: source.path, read: () => reread(source, values, anonymous) } }
  }
}

/** Describes what is wrong with the issuers of a host. */
export function issuersProblem (jwt: unknown): string | undefined {
  try {
    readConfiguration<AuthenticationConfiguration>('', {
      value: { kind: 'AuthenticationConfiguration', apiVersion: 'apiserver.config.orch.io/v1', jwt }
    }, AUTHENTICATION_CONFIGURATIONS)
    return undefined
  } catch (error) {
    if (error instanceof ConfigurationError) return error.why
    throw error
  }
}

type Anonymous = NonNullable<AuthenticationConfiguration['anonymous']>

const anonymousOf = ({ enabled, conditions = [] }: Anonymous): boolean | readonly string[] =>
  enabled && conditions.length > 0 ? conditions.map(({ path }) => path) : enabled

function read (source: Source, values: Values): AuthenticationConfiguration {
  const configuration = readDocument<AuthenticationConfiguration>(source, AUTHENTICATION_CONFIGURATIONS)
  const own = values['service-account-issuer']
  const at = (configuration.jwt ?? []).findIndex(({ issuer }) => own.includes(issuer.url))
  if (at >= 0) {
    throw new FlagError(
      FLAG, source.path, `jwt[${at}].issuer.url: is an issuer of this server, --service-account-issuer`
    )
  }
  return configuration
}

/** What may not change while the server runs is refused. */
function reread (
  source: Source, values: Values, before: Anonymous | undefined
): NonNullable<AuthenticationConfiguration['jwt']> {
  const { jwt = [], anonymous } = read(source, values)
  if (JSON.stringify(anonymous) !== JSON.stringify(before)) {
    throw new FlagError(FLAG, source.path, 'anonymous cannot change without a restart')
  }
  return jwt
}
