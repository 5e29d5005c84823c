/** Valid and invalid tokens, with Node's own signatures instead of the server's library. */
import { createHash, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import type { Json } from '../../build.js'
import type { Entry } from '../../../storage/cache/entry.js'
import { create } from '../../../registry/verbs/create.js'
import { current } from '../../../registry/current.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import { context, storeOf } from '../../controllers/namespace-race.js'

export interface Keys {
  readonly pem: string
  readonly publicPem: string
  readonly privateKey: KeyObject
  readonly alg: string
  readonly kid: string
}

export function keys (kind: 'EC' | 'RSA' = 'EC'): Keys {
  const { privateKey, publicKey } = kind === 'EC'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return { pem, publicPem, privateKey, alg: kind === 'EC' ? 'ES256' : 'RS256', kid: kidOf(publicPem) }
}

export const kidOf = (pem: string): string =>
  createHash('sha256').update(createPublicKey(pem).export({ type: 'spki', format: 'der' })).digest('base64url')

const encoded = (part: object | string): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

/** @param claims an object, or the exact text */
export function signed ({ privateKey, alg, kid }: Keys, claims: object | string, header: Json = {}): string {
  const input = `${encoded({ alg, kid, ...header })}.${encoded(claims)}`
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

export const withSignature = (header: object, claims: object, signature: (input: string) => Buffer): string => {
  const input = `${encoded(header)}.${encoded(claims)}`
  return `${input}.${signature(input).toString('base64url')}`
}

/** The default account of the namespace default, which no controller creates in a bare registry. */
export async function defaultAccount (resources: ResourceRegistry): Promise<Entry> {
  const accounts = storeOf(resources, 'serviceaccounts')
  await create(
    accounts, { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace: 'default' } },
    { namespace: 'default', name: '' }, context
  )
  const account = await current(accounts, accounts.keys.of('default', 'default'))
  if (account === undefined) throw new Error('it was not made')
  return account
}
