/**
 * Claims of service account tokens. Requested tokens expire and name their audiences; tokens stored in Secrets do
 * neither. Parsing is strict: every relevant claim must be present and of its type.
 */
import { CREDENTIAL_ID, NODE_NAME, NODE_UID, tokenCredential } from '../../../auth/credential-ids.js'
import type { NamedObject, SecretTokenClaims, TokenClaims } from '../../../auth/service-account-tokens.js'
import { serviceAccountGroups, serviceAccountUsername } from '../../../auth/service-account-names.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'

/** Issuer of tokens stored in Secrets, whatever issuers are configured. */
export const SECRET_ISSUER = 'orch/serviceaccount'
const PRIVATE = 'orch.io'
const KEPT = 'orch.io/serviceaccount'
const POD_NAME = 'authentication.orch.io/pod-name'
const POD_UID = 'authentication.orch.io/pod-uid'

type Claims = Readonly<Record<string, unknown>>

/** The claims of a token. Times are in seconds since 1970. */
export interface ReadClaims {
  readonly namespace: string
  readonly account: NamedObject
  /** Undefined means the server's audiences. */
  readonly audiences: readonly string[] | undefined
  readonly notBefore: number
  readonly expires: number
  readonly warnAfter: number | undefined
  readonly pod: NamedObject | undefined
  readonly secret: NamedObject | undefined
  /** Of the pod, where the token has one; its UID is empty where that was not known. */
  readonly node: NamedObject | undefined
  readonly id: string | undefined
  /** Name of the Secret that must contain this token. */
  readonly keptIn: string | undefined
}

/** @param identifies whether the user says by which token and on which node it was authenticated */
export function userOf ({ namespace, account, pod, node, id }: ReadClaims, identifies: boolean): UserInfo {
  return {
    username: serviceAccountUsername(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    extra: {
      ...(pod === undefined ? {} : { [POD_NAME]: [pod.name], [POD_UID]: [pod.uid] }),
      ...(identifies && id !== undefined ? { [CREDENTIAL_ID]: [tokenCredential(id)] } : {}),
      ...(identifies && node !== undefined ? { [NODE_NAME]: [node.name] } : {}),
      ...(identifies && node !== undefined && node.uid !== '' ? { [NODE_UID]: [node.uid] } : {})
    }
  }
}

const reference = ({ name, uid }: NamedObject): NamedObject => ({ name, uid })

export function payloadOf (
  issuer: string,
  { namespace, account, audiences, issuedAt, expirationSeconds, warnAfterSeconds, pod, secret, node, id }: TokenClaims
): Record<string, unknown> {
  return {
    aud: audiences,
    exp: issuedAt + expirationSeconds,
    iat: issuedAt,
    iss: issuer,
    ...(id === undefined ? {} : { jti: id }),
    [PRIVATE]: {
      namespace,
      ...(node === undefined ? {} : { node: node.uid === '' ? { name: node.name } : reference(node) }),
      ...(pod === undefined ? {} : { pod: reference(pod) }),
      ...(secret === undefined ? {} : { secret: reference(secret) }),
      serviceaccount: reference(account),
      ...(warnAfterSeconds === undefined ? {} : { warnafter: issuedAt + warnAfterSeconds })
    },
    nbf: issuedAt,
    sub: serviceAccountUsername(namespace, account.name)
  }
}

export const secretPayloadOf = ({ namespace, account, secretName }: SecretTokenClaims): Record<string, unknown> => ({
  iss: SECRET_ISSUER,
  [`${KEPT}/namespace`]: namespace,
  [`${KEPT}/secret.name`]: secretName,
  [`${KEPT}/service-account.name`]: account.name,
  [`${KEPT}/service-account.uid`]: account.uid,
  sub: serviceAccountUsername(namespace, account.name)
})

/** @param issuer the already accepted issuer. @throws Error that names the claim */
export function readClaims (issuer: string, claims: Claims): ReadClaims {
  const times = {
    notBefore: Math.max(time(claims, 'nbf') ?? 0, time(claims, 'iat') ?? 0), expires: time(claims, 'exp') ?? Infinity
  }
  if (issuer === SECRET_ISSUER) {
    const account = {
      name: text(claims, `${KEPT}/service-account.name`), uid: text(claims, `${KEPT}/service-account.uid`)
    }
    const read = { namespace: text(claims, `${KEPT}/namespace`), account, keptIn: text(claims, `${KEPT}/secret.name`) }
    checkSubject(claims, read)
    return {
      ...read, ...times, audiences: claims['aud'] === undefined ? undefined : audiencesOf(claims), warnAfter: undefined,
      pod: undefined, secret: undefined, node: undefined, id: undefined
    }
  }
  if (times.expires === Infinity) throw new Error('the claim exp is missing')
  const own = objectOf(claims[PRIVATE], PRIVATE)
  const named = (member: string): NamedObject => {
    const bound = objectOf(own[member], `${PRIVATE}.${member}`)
    return { name: text(bound, 'name'), uid: text(bound, 'uid') }
  }
  const optional = (member: string): NamedObject | undefined => own[member] === undefined ? undefined : named(member)
  const read = { namespace: text(own, 'namespace'), account: named('serviceaccount') }
  checkSubject(claims, read)
  const pod = optional('pod')
  return {
    ...read, ...times, audiences: audiencesOf(claims), warnAfter: time(own, 'warnafter'), pod,
    secret: optional('secret'), node: own['node'] === undefined ? undefined : nodeOf(own['node'], pod !== undefined),
    id: claims['jti'] === undefined ? undefined : text(claims, 'jti'), keptIn: undefined
  }
}

/** Only that of a pod may be without a UID. */
function nodeOf (claim: unknown, ofPod: boolean): NamedObject {
  const node = objectOf(claim, `${PRIVATE}.node`)
  return { name: text(node, 'name'), uid: ofPod && node['uid'] === undefined ? '' : text(node, 'uid') }
}

function checkSubject (claims: Claims, { namespace, account }: Pick<ReadClaims, 'namespace' | 'account'>): void {
  if (text(claims, 'sub') !== serviceAccountUsername(namespace, account.name)) {
    throw new Error('the claim sub is not that of the service account')
  }
}

function text (claims: Claims, name: string): string {
  const value = claims[name]
  if (typeof value !== 'string' || value === '') throw new Error(`the claim ${name} is missing or no text`)
  return value
}

function time (claims: Claims, name: string): number | undefined {
  const value = claims[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error(`the claim ${name} is no time`)
  return value
}

function audiencesOf ({ aud }: Claims): string[] {
  const all: unknown[] = Array.isArray(aud) ? aud : [aud]
  if (all.length === 0 || !all.every(item => typeof item === 'string' && item !== '')) {
    throw new Error('the claim aud is missing or is no list of texts')
  }
  return all as string[]
}

function objectOf (value: unknown, name: string): Claims {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`the claim ${name} is missing or no object`)
  }
  return value as Claims
}
