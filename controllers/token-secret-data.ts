/** What Secrets of type orch.io/service-account-token hold: who they name, what they lack, and what is put there. */
import type { NamedObject } from '../auth/service-account-tokens.js'
import type { ApiObject } from '../schemas/index.js'

export const TYPE = 'orch.io/service-account-token'
const ACCOUNT_NAME = 'orch.io/service-account.name'
const ACCOUNT_UID = 'orch.io/service-account.uid'

export interface Secret extends ApiObject { type?: string, data?: Record<string, string> | null }

/** The account that it names, its uid '' where it does not say; undefined where it names none. */
export function accountOf ({ metadata: { annotations } }: ApiObject): NamedObject | undefined {
  const name = annotations?.[ACCOUNT_NAME] ?? ''
  return name === '' ? undefined : { name, uid: annotations?.[ACCOUNT_UID] ?? '' }
}

/** @param authority PEM, '' where none is known */
export const lacks = ({ data }: Secret, authority: string): boolean => !data?.['token'] || !data['namespace'] || (authority !== '' && !data['ca.crt'])

/** Adds what is missing, in place. */
export function fill (secret: Secret, { name, uid }: NamedObject, token: string, authority: string): Secret {
  const wanted = { token, namespace: secret.metadata.namespace ?? '', ...(authority === '' ? {} : { 'ca.crt': authority }) }
  const data: Record<string, string> = { ...secret.data }
  for (const [key, text] of Object.entries(wanted)) data[key] ||= Buffer.from(text).toString('base64')
  secret.data = data
  secret.metadata.annotations = { ...secret.metadata.annotations, [ACCOUNT_NAME]: name, [ACCOUNT_UID]: uid }
  return secret
}
