/** The contents of Secrets of type orch.io/service-account-token. */
import type { NamedObject } from '../auth/service-account-tokens.js'
import type { ApiObject } from '../schemas/meta/api-object.js'

export const TYPE = 'orch.io/service-account-token'
const ACCOUNT_NAME = 'orch.io/service-account.name'
const ACCOUNT_UID = 'orch.io/service-account.uid'

export interface Secret extends ApiObject { type?: string, data?: Record<string, string> | null }

/** The account that the Secret names, with uid '' if absent; undefined if it names none. */
export function accountOf ({ metadata: { annotations } }: ApiObject): NamedObject | undefined {
  const name = annotations?.[ACCOUNT_NAME] ?? ''
  return name === '' ? undefined : { name, uid: annotations?.[ACCOUNT_UID] ?? '' }
}

/** @param authority PEM, '' if unknown */
export const isIncomplete = ({ data }: Secret, authority: string): boolean => !data?.['token'] || !data['namespace'] ||
  (authority !== '' && !data['ca.crt'])

/** Adds missing data, in place. */
export function fillTokenSecret (secret: Secret, { name, uid }: NamedObject, token: string, authority: string): Secret {
  const desired = {
    token, namespace: secret.metadata.namespace ?? '', ...(authority === '' ? {} : { 'ca.crt': authority })
  }
  const data: Record<string, string> = { ...secret.data }
  for (const [key, text] of Object.entries(desired)) data[key] ||= Buffer.from(text).toString('base64')
  secret.data = data
  secret.metadata.annotations = { ...secret.metadata.annotations, [ACCOUNT_NAME]: name, [ACCOUNT_UID]: uid }
  return secret
}
