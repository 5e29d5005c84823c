/**
 * TokenRequest, posted to a service account: issues a token for audiences and a lifetime, optionally bound to a Pod of
 * the account or a Secret; a bound token ends with that object.
 * @see interface, '--service-account-max-token-expiration', '--service-account-extend-token-expiration'
 */
import { randomUUID } from 'node:crypto'
import { TokenRequest, type BoundObjectReference } from '../../schemas/api/authentication/tokenrequests.js'
import { tokenCredential } from '../../auth/credential-ids.js'
import type { NamedObject, ServiceAccountTokens } from '../../auth/service-account-tokens.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import { timestamp } from '../../schemas/meta/time.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import {
  badRequest, conflict, invalid, noName, notFound, serviceUnavailable, type FieldError
} from '../../schemas/status.js'
import { current } from '../../registry/current.js'
import type { VirtualOperation, ResourceRegistry } from '../../registry/resource-registry.js'
import { admit } from '../../registry/stages/admit.js'
import { OtherWrite } from '../../registry/stages/write.js'

const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
/** Seconds that node agents request for tokens injected into pods; only such tokens may be extended. */
const INJECTED = 3607
const A_YEAR = 365 * 24 * 3600
/** Maximum total characters of audiences, so that the token fits in a header. */
const MAX_AUDIENCES_LENGTH = 16 * 1024
/** Names the token in the audit event of its request. */
const ISSUED = 'authentication.orch.io/issued-credential-id'
const ACCOUNTS = { group: '', resource: 'serviceaccounts' }
const REQUEST = { group: 'authentication.orch.io', kind: 'TokenRequest' }

export interface TokenRequestOptions {
  readonly resources: ResourceRegistry
  readonly tokens: ServiceAccountTokens
  /** Milliseconds since 1970. For tests. */
  readonly now?: () => number
  /** Default those of the interface's release. */
  readonly gates?: Pick<Gates, 'enabled'>
}

export const tokenRequest = (
  { resources, tokens, now = Date.now, gates = DEFAULT_GATES }: TokenRequestOptions
): VirtualOperation => ({
  message: TokenRequest,
  run: async (object, target, context) => {
    const request = object as TokenRequest // decoded by its message
    const { namespace, name } = target
    const { signer, maxExpirationSeconds, extendExpiration, maxExtendedSeconds = A_YEAR } = tokens
    const store = resources.find('', 'serviceaccounts')
    if (store === undefined) throw notFound(ACCOUNTS, name)
    const admitted =
      await admit(new OtherWrite({ store, target, context }, 'CREATE', request, REQUEST.kind), async () => {
        refuse(name, mismatches(request, name))
        const account = await find(resources, ACCOUNTS.resource, namespace, name)
        if (signer === undefined) {
          throw serviceUnavailable(
            'this server has no key to sign tokens with; start it with --service-account-signing-key-file'
          )
        }
        const audiences = request.spec.audiences?.length ? request.spec.audiences : [...tokens.audiences]
        refuse('', findings(audiences, Number(request.spec.expirationSeconds)))
        return { account, audiences, signer }
      })
    const { account, audiences } = admitted
    refuseAnother(account, request, gates)
    let seconds = Number(request.spec.expirationSeconds)
    const bound = await boundTo({ resources, gates }, request.spec.boundObjectRef, namespace, name)
    if (maxExpirationSeconds > 0 && seconds > maxExpirationSeconds) {
      context.caller.warn?.(`requested expiration of ${seconds} seconds shortened to ${maxExpirationSeconds} seconds`)
      seconds = maxExpirationSeconds
    }
    // Programs that never reload their token keep working for a year; their uses are counted as stale.
    const extended = extendExpiration && bound.pod !== undefined && seconds === INJECTED &&
      audiences.every(audience => tokens.audiences.includes(audience))
    const milliseconds = now()
    const id = gates.enabled('ServiceAccountTokenJTI') ? randomUUID() : undefined
    if (id !== undefined) context.caller.annotate?.(ISSUED, tokenCredential(id))
    const token = await admitted.signer.issue({
      namespace, account: { name, uid: account.metadata.uid ?? '' }, audiences,
      issuedAt: Math.floor(milliseconds / 1000), id, ...bound,
      ...(extended
        ? { expirationSeconds: Math.min(A_YEAR, maxExtendedSeconds), warnAfterSeconds: seconds }
        : { expirationSeconds: seconds })
    })
    return {
      ...request,
      metadata: { ...request.metadata, name, namespace, creationTimestamp: timestamp(milliseconds) },
      spec: { ...request.spec, audiences, expirationSeconds: seconds },
      status: { token, expirationTimestamp: timestamp(milliseconds + seconds * 1000) }
    }
  }
})

function mismatches ({ metadata }: TokenRequest, name: string): FieldError[] {
  if (!metadata.name || metadata.name === name) return []
  return [{
    type: 'FieldValueInvalid', field: 'metadata.name', value: metadata.name,
    detail: 'must match the service account name if specified'
  }]
}

function findings (audiences: readonly string[], seconds: number): FieldError[] {
  const problems: FieldError[] = []
  const field = 'spec.expirationSeconds'
  if (!(seconds >= MIN_SECONDS)) {
    problems.push({
      type: 'FieldValueInvalid', field, value: seconds, detail: 'may not specify a duration less than 10 minutes'
    })
  }
  if (seconds > MAX_SECONDS) {
    problems.push({
      type: 'FieldValueInvalid', field, value: seconds, detail: 'may not specify a duration larger than 2^32 seconds'
    })
  }
  if (audiences.reduce((sum, { length }) => sum + length + 3, 0) > MAX_AUDIENCES_LENGTH) {
    problems.push({
      type: 'FieldValueTooLong', field: 'spec.audiences', detail: `must have at most ${MAX_AUDIENCES_LENGTH} bytes`
    })
  }
  return problems
}

/** @throws StatusError 422 */
function refuse (name: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(REQUEST, name, errors)
}

/** @throws StatusError 409 for the UID of another account of that name */
function refuseAnother (
  { metadata: { name = '', uid } }: ApiObject, { metadata }: TokenRequest, gates: Pick<Gates, 'enabled'>
): void {
  if (!metadata.uid || metadata.uid === uid || !gates.enabled('TokenRequestServiceAccountUIDValidation')) return
  throw conflict(
    ACCOUNTS, name, `the UID in the token request (${metadata.uid}) does not match the UID of the service account`
  )
}

/** Where the objects are that tokens are bound to, and the gate without which they cannot be. */
const BINDABLE: ReadonlyMap<string, { readonly plural: string, readonly gate?: string, readonly clustered?: true }> =
  new Map([
    ['Pod', { plural: 'pods' }], ['Secret', { plural: 'secrets' }],
    ['Node', { plural: 'nodes', gate: 'ServiceAccountTokenNodeBinding', clustered: true }]
  ])

/** @throws StatusError 400 for an unsupported reference, 404, 409 if the UID differs */
async function boundTo (
  { resources, gates }: Required<Pick<TokenRequestOptions, 'resources' | 'gates'>>,
  reference: BoundObjectReference | null | undefined, namespace: string, account: string
): Promise<{ pod?: NamedObject, secret?: NamedObject, node?: NamedObject }> {
  if (reference == null) return {}
  const { apiVersion = '', kind = '', name = '', uid: expectedUid = '' } = reference
  const bindable = BINDABLE.get(kind)
  if (apiVersion.includes('/') || bindable === undefined ||
    (bindable.gate !== undefined && !gates.enabled(bindable.gate))) {
    throw badRequest(`cannot bind token to object of kind ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`)
  }
  if (name === '') throw noName()
  const object = await find(resources, bindable.plural, bindable.clustered === true ? '' : namespace, name) as Bound
  if (kind === 'Pod' && object.spec?.serviceAccountName !== account) {
    throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different ` +
      'serviceaccount name.')
  }
  const { uid = '' } = object.metadata
  if (expectedUid !== '' && expectedUid !== uid) {
    throw conflict(
      { group: '', resource: kind }, name,
      `the UID in the bound object reference (${expectedUid}) does not match the UID in record. The object might ` +
        'have been deleted and then recreated'
    )
  }
  if (kind === 'Node') return { node: { name, uid } }
  if (kind === 'Secret') return { secret: { name, uid } }
  const { nodeName = '' } = object.spec ?? {}
  return {
    pod: { name, uid },
    ...(nodeName === '' || !gates.enabled('ServiceAccountTokenPodNodeInfo')
      ? {}
      : { node: { name: nodeName, uid: await uidOf(resources, nodeName) } })
  }
}

type Bound = ApiObject & { spec?: { serviceAccountName?: string, nodeName?: string } }

/** Of a node; empty if it is not there. */
async function uidOf (resources: ResourceRegistry, node: string): Promise<string> {
  const store = resources.find('', 'nodes')
  const entry = store === undefined ? undefined : await current(store, store.keys.of('', node))
  return entry?.object.metadata.uid ?? ''
}

/** @throws StatusError 404 */
async function find (resources: ResourceRegistry, plural: string, namespace: string, name: string): Promise<ApiObject> {
  const store = resources.find('', plural)
  const entry = store === undefined ? undefined : await current(store, store.keys.of(namespace, name))
  if (entry === undefined) throw notFound({ group: '', resource: plural }, name)
  return entry.object
}
