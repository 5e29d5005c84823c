/** User and group names of service accounts. */
import { dnsLabel, dnsSubdomain } from '../schemas/names.js'

const PREFIX = 'system:serviceaccount:'

/** Undefined for other user names. */
export function splitServiceAccount (username: string): {
  readonly namespace: string, readonly name: string
} | undefined {
  if (!username.startsWith(PREFIX)) return undefined
  const [namespace = '', name = '', ...rest] = username.slice(PREFIX.length).split(':')
  return rest.length === 0 && dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0
    ? { namespace, name }
    : undefined
}

export const serviceAccountUsername = (namespace: string, name: string): string => `${PREFIX}${namespace}:${name}`

/** The groups of every service account in a namespace. */
export const serviceAccountGroups = (namespace: string): string[] =>
  ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
