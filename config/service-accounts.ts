/**
 * Service account options from flags. Validates key files, so that the server can verify the tokens it issues. @see
 * interface, 'Authentication flags'
 */
import type { AuthenticationOptions } from '../plugins/authentication/index.js'
import { parseSigningKey, parseTokenKeys } from '../plugins/authentication/service-account/keys.js'
import { readFile } from './files.js'
import { FlagError, printable } from './flag.js'
import type { FlagName, Values } from './flags/index.js'

export { makeSigningPem } from '../plugins/authentication/service-account/keys.js'

/** Requested seconds that mark a token for extension. */
const INJECTED = 3607

/** Describes an invalid private key; undefined if valid. */
export const signingKeyProblem = (pem: string): string | undefined => problemOf(() => parseSigningKey(pem))

/** @throws FlagError */
export function serviceAccountOptions (
  values: Values
): Pick<AuthenticationOptions, 'serviceAccounts' | 'audiences' | 'bootstrapTokens'> {
  const issuers = values['service-account-issuer']
  const audiences = values['api-audiences']
  const maximum = values['service-account-max-token-expiration']
  const keysUri = values['service-account-jwks-uri']
  return {
    bootstrapTokens: values['enable-bootstrap-token-auth'],
    ...(audiences.length === 0 ? {} : { audiences }),
    serviceAccounts: {
      ...(issuers.length === 0 ? {} : { issuers }),
      ...keysOf(values),
      lookup: values['service-account-lookup'],
      maxExpirationSeconds: Math.floor(maximum / 1000),
      extendExpiration: values['service-account-extend-token-expiration'],
      ...(keysUri === '' ? {} : { keysUri })
    }
  }
}

/** Warnings for the log. */
export function serviceAccountWarnings (values: Values): string[] {
  const maximum = values['service-account-max-token-expiration']
  const ignored = maximum > 0 && maximum < INJECTED * 1000 && values['service-account-extend-token-expiration']
  const [issuer] = values['service-account-issuer']
  const hidden = issuer !== undefined && !/^https:/i.test(issuer)
  return [...hidden
    ? [`--service-account-issuer: ${printable(issuer)} is no https URL, so that it cannot be discovered`]
    : [], ...ignored
    ? [
        '--service-account-extend-token-expiration has no effect with a --service-account-max-token-expiration below ' +
          `${INJECTED} s`
      ]
    : []]
}

function keysOf (values: Values): { signingKey?: string, verificationKeys?: string[], signingSocket?: string } {
  const socket = values['service-account-signing-endpoint']
  if (socket !== '') return { signingSocket: socket }
  const files = values['service-account-key-file']
  const tls = values['tls-private-key-file']
  if (files.length === 0) {
    // As upstream, the key defaults to that of TLS, if it is RSA or ECDSA. The TLS setup reports other errors.
    const problem = tls === ''
      ? 'there is none'
      : problemOf(() => parseTokenKeys(readFile('tls-private-key-file', tls)))
    return problem === undefined ? { verificationKeys: [readFile('tls-private-key-file', tls)] } : {}
  }
  const verificationKeys = files.map(path => checked('service-account-key-file', path, parseTokenKeys))
  const path = values['service-account-signing-key-file']
  if (path === '') return { verificationKeys }
  const signingKey = checked('service-account-signing-key-file', path, parseSigningKey)
  const { id } = parseSigningKey(signingKey)
  if (!verificationKeys.flatMap(parseTokenKeys).some(key => key.id === id)) {
    throw new FlagError(
      'service-account-signing-key-file', path,
      'its public key is in no file of --service-account-key-file, so that no server would accept what it signs; ' +
        'name it there too'
    )
  }
  return { signingKey, verificationKeys }
}

function checked (flag: FlagName, path: string, parse: (pem: string) => unknown): string {
  const pem = readFile(flag, path)
  const problem = problemOf(() => parse(pem))
  if (problem !== undefined) throw new FlagError(flag, path, problem)
  return pem
}

function problemOf (parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
