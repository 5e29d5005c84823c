/**
 * ServiceAccount: sets the service account of a pod, by default `default`, and mounts a projected volume with a token,
 * the server's CA bundle and the namespace; adds the account's image pull secrets. Accounts with the annotation
 * `orch.io/enforce-mountable-secrets` limit their pods, ephemeral containers included, to the secrets they list. Mirror
 * pods have neither account nor secrets. (Enabled by default.)
 */
import { setTimeout } from 'node:timers/promises'
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import type { ServiceAccount } from '../../schemas/api/core/serviceaccounts.js'
import { isMirrorPod, referencesOf } from '../../auth/node/references.js'
import { randomSuffix } from '../../registry/stages/suffix.js'
import { pluginFor, type TypedRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { mountToken } from './service-account-token-volume.js'
import { unmountable, unmountableForDebugging } from './service-account-secrets.js'

const DEFAULT = 'default'
const ENFORCE = 'orch.io/enforce-mountable-secrets'
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
/** A controller creates the default account shortly after its namespace. */
const MAX_ATTEMPTS = 10
const PAUSE_MS = 100

export const serviceAccount = pluginFor<Pod>(pods, {
  name: 'ServiceAccount',
  operations: ['CREATE', 'UPDATE'],
  subresources: ['', 'ephemeralcontainers'],
  mutate: async request => {
    const { object } = request
    if (object === undefined || request.operation !== 'CREATE') return
    if (isMirrorPod(object)) return checkMirror(request, object)
    const { spec } = object
    spec.serviceAccountName ||= DEFAULT
    const account = await accountOf(request, spec.serviceAccountName)
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) {
      mountToken(spec, randomSuffix)
    }
    if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets !== undefined) {
      spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name }))
    }
    checkSecrets(request, object, account)
  },
  validate: async request => {
    const { object, operation, subresource } = request
    if (object === undefined || (operation === 'UPDATE' && subresource === '')) return
    if (isMirrorPod(object)) return operation === 'CREATE' ? checkMirror(request, object) : undefined
    checkSecrets(request, object, await accountOf(request, object.spec.serviceAccountName ?? ''))
  }
})

/** New pods are checked twice: before other plugins, as upstream, and after the last change. */
function checkSecrets (request: TypedRequest<Pod>, { spec }: Pod, account: ServiceAccount): void {
  if (!TRUE.has(account.metadata.annotations?.[ENFORCE] ?? '')) return
  const why = request.operation === 'CREATE' ? unmountable(spec, account) : unmountableForDebugging(spec, account)
  if (why !== undefined) throw refusal(request, why)
}

function checkMirror (request: TypedRequest<Pod>, pod: Pod): void {
  const references = [...referencesOf(pod)]
  if (references.some(key => key.startsWith('serviceaccounts/'))) {
    throw refusal(request, 'a mirror pod may not reference service accounts')
  }
  if (references.some(key => key.startsWith('secrets/'))) {
    throw refusal(request, 'a mirror pod may not reference secrets')
  }
  const projects = pod.spec.volumes?.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined) === true) === true
  if (projects) throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections')
}

/** @throws StatusError 403 if it does not exist */
async function accountOf (request: TypedRequest<Pod>, name: string): Promise<ServiceAccount> {
  const { reader, namespace } = request
  for (let attempt = 1; ; attempt++) {
    // the resource's type
    const account = await reader.get('', 'serviceaccounts', namespace, name) as ServiceAccount | undefined
    if (account !== undefined) return account
    if (name !== DEFAULT || attempt === MAX_ATTEMPTS || request.signal.aborted) {
      throw refusal(
        request,
        `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
      )
    }
    await setTimeout(PAUSE_MS)
  }
}
