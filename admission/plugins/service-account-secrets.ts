/** Checks that pods only refer to the secrets of their service account. */
import type { PodSpec } from '../../schemas/api/core/pod-spec.js'
import type { ServiceAccount } from '../../schemas/api/core/serviceaccounts.js'

type Containers = ReadonlyArray<Pick<NonNullable<PodSpec['containers']>[number], 'name' | 'env' | 'envFrom'>>

/** Why the pod is refused, naming the first secret that the account does not list. */
export function unmountable (
  { volumes = [], initContainers = [], containers = [], imagePullSecrets = [] }: PodSpec, account: ServiceAccount
): string | undefined {
  const { own, pullable, why } = referencesOfAccount(account)
  for (const { secret } of volumes) {
    if (secret !== undefined && !own.has(secret.secretName ?? '')) {
      return `volume with secret.secretName="${secret.secretName ?? ''}" ${why} secret`
    }
  }
  const inContainers = unlistedSecretIn('init container', initContainers, account) ?? unlistedSecretIn(
    'container', containers, account
  )
  if (inContainers !== undefined) return inContainers
  const index = imagePullSecrets.findIndex(({ name = '' }) => !pullable.has(name))
  return index < 0
    ? undefined
    : `imagePullSecrets[${index}].name="${imagePullSecrets[index]?.name ?? ''}" ${why} imagePullSecret`
}

/** As `unmountable`, for ephemeral containers, which are added to running pods. */
export const unmountableForDebugging = (
  { ephemeralContainers = [] }: PodSpec, account: ServiceAccount
): string | undefined => unlistedSecretIn('ephemeral container', ephemeralContainers, account)

function unlistedSecretIn (what: string, containers: Containers, account: ServiceAccount): string | undefined {
  const { own, why } = referencesOfAccount(account)
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const reference = valueFrom?.secretKeyRef
      if (reference !== undefined && !own.has(reference.name ?? '')) {
        return `${what} ${name} with envVar ${variable} referencing secret.secretName="${reference.name ?? ''}" ` +
          `${why} secret`
      }
    }
    for (const { secretRef } of envFrom) {
      if (secretRef !== undefined && !own.has(secretRef.name ?? '')) {
        return `${what} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}" ${why} secret`
      }
    }
  }
  return undefined
}

function referencesOfAccount ({ metadata, secrets = [], imagePullSecrets = [] }: ServiceAccount): {
  readonly own: ReadonlySet<string>, readonly pullable: ReadonlySet<string>, readonly why: string
} {
  return {
    own: new Set(secrets.map(({ name }) => name ?? '')),
    pullable: new Set(imagePullSecrets.map(({ name }) => name ?? '')),
    why: `is not allowed because service account ${metadata.name ?? ''} does not reference that`
  }
}
