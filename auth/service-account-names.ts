/** How users and groups of service accounts are called. */
import { dnsLabel, dnsSubdomain } from '../schemas/names.js'

const PREFIX = 'system:serviceaccount:'

/** Undefined for what is no user name of a service account. */
export function splitServiceAccount (username: string): { readonly namespace: string, readonly name: string } | undefined {
  if (!username.startsWith(PREFIX)) return undefined
  const [namespace = '', name = '', ...rest] = username.slice(PREFIX.length).split(':')
  return rest.length === 0 && dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0 ? { namespace, name } : undefined
}

/** The user name of one. */
export const serviceAccountUsername = (namespace: string, name: string): string => `${PREFIX}${namespace}:${name}`

/** Those that every service account of a namespace is in. */
export const serviceAccountGroups = (namespace: string): string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
