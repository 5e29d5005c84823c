/** The volume by which containers speak to the server as their account: a token, the CA bundle of the server and their namespace. */
import type { PodSpec } from '../schemas/api/core/pod-spec.js'
import type { Volume } from '../schemas/api/core/pod-volumes.js'

const PATH = '/var/run/secrets/orch.io/serviceaccount'
const PREFIX = 'orch-api-access-'
/** As much more than an hour tells the server that it was put in here, and not asked for. */
const EXPIRATION_SECONDS = 3607

/** Mounts it into each container that has nothing at its path yet. @param suffix makes the end of a name */
export function mountToken (spec: PodSpec, suffix: () => string): void {
  const known = spec.volumes?.find(({ name }) => name.startsWith(PREFIX))?.name
  const name = known ?? `${PREFIX}${suffix()}`
  let needed = false
  for (const container of [...spec.initContainers ?? [], ...spec.containers ?? []]) {
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === PATH) === true) continue
    container.volumeMounts = [...container.volumeMounts ?? [], { name, readOnly: true, mountPath: PATH }]
    needed = true
  }
  if (needed && known === undefined) spec.volumes = [...spec.volumes ?? [], tokenVolume(name)]
}

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
      { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } }
    ]
  }
})
