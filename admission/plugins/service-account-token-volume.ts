/** The projected volume with a service account token, the server's CA bundle and the namespace. */
import type { PodSpec } from '../../schemas/api/core/pod-spec.js'
import type { Volume } from '../../schemas/api/core/pod-volumes.js'

const PATH = '/var/run/secrets/orch.io/serviceaccount'
const PREFIX = 'orch-api-access-'
/** The seven extra seconds identify injected tokens. */
const EXPIRATION_SECONDS = 3607

/**
 * Mounts the volume into each container without a mount at its path.
 * @param suffix returns the random end of the volume's name
 */
export function mountToken (spec: PodSpec, suffix: () => string): void {
  const existingName = spec.volumes?.find(({ name }) => name.startsWith(PREFIX))?.name
  const name = existingName ?? `${PREFIX}${suffix()}`
  let needed = false
  for (const container of [...spec.initContainers ?? [], ...spec.containers ?? []]) {
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === PATH) === true) continue
    container.volumeMounts = [...container.volumeMounts ?? [], { name, readOnly: true, mountPath: PATH }]
    needed = true
  }
  if (needed && existingName === undefined) spec.volumes = [...spec.volumes ?? [], tokenVolume(name)]
}

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
      { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }]
        }
      }
    ]
  }
})
