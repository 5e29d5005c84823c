/** Which secrets pods of an account may refer to, where it is for those of its own alone. */
import type { PodSpec } from '../schemas/api/core/pod-spec.js'
import type { ServiceAccount } from '../schemas/api/core/serviceaccounts.js'

type Containers = ReadonlyArray<Pick<NonNullable<PodSpec['containers']>[number], 'name' | 'env' | 'envFrom'>>

/** Why the pod is refused, by the first secret that is not the account's. */
export function unmountable ({ volumes = [], initContainers = [], containers = [], imagePullSecrets = [] }: PodSpec, account: ServiceAccount): string | undefined {
  const { own, pullable, why } = known(account)
  for (const { secret } of volumes) {
    if (secret !== undefined && !own.has(secret.secretName ?? '')) return `volume with secret.secretName="${secret.secretName ?? ''}" ${why} secret`
  }
  const inContainers = unknownIn('init container', initContainers, account) ?? unknownIn('container', containers, account)
  if (inContainers !== undefined) return inContainers
  const index = imagePullSecrets.findIndex(({ name = '' }) => !pullable.has(name))
  return index < 0 ? undefined : `imagePullSecrets[${index}].name="${imagePullSecrets[index]?.name ?? ''}" ${why} imagePullSecret`
}

/** The same of the containers for debugging, which come to a pod that is there. */
export const unmountableForDebugging = ({ ephemeralContainers = [] }: PodSpec, account: ServiceAccount): string | undefined => unknownIn('ephemeral container', ephemeralContainers, account)

function unknownIn (what: string, containers: Containers, account: ServiceAccount): string | undefined {
  const { own, why } = known(account)
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const reference = valueFrom?.secretKeyRef
      if (reference !== undefined && !own.has(reference.name ?? '')) return `${what} ${name} with envVar ${variable} referencing secret.secretName="${reference.name ?? ''}" ${why} secret`
    }
    for (const { secretRef } of envFrom) {
      if (secretRef !== undefined && !own.has(secretRef.name ?? '')) return `${what} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}" ${why} secret`
    }
  }
  return undefined
}

function known ({ metadata, secrets = [], imagePullSecrets = [] }: ServiceAccount): { readonly own: ReadonlySet<string>, readonly pullable: ReadonlySet<string>, readonly why: string } {
  return {
    own: new Set(secrets.map(({ name }) => name ?? '')),
    pullable: new Set(imagePullSecrets.map(({ name }) => name ?? '')),
    why: `is not allowed because service account ${metadata.name ?? ''} does not reference that`
  }
}
