/**
 * `--allow-privileged=false`: refuses privileged and hostProcess containers in pods and pod templates, with the other
 * findings of validation. A plugin because the flag holds for one server, while validation is shared by all servers in
 * a process.
 */
import type { PodSpec } from '../schemas/api/core/pod-spec.js'
import type { Gates } from '../schemas/gates.js'
import type { FieldError } from '../schemas/status.js'
import type { AdmissionPlugin } from '../registry/admission.js'
import { podIn, podSpecPath } from './pod-templates.js'

const SUBRESOURCES: ReadonlySet<string> = new Set(['', 'ephemeralcontainers'])

export const privilegedContainers = (gates: Pick<Gates, 'enabled'>): AdmissionPlugin => ({
  name: 'PrivilegedContainers',
  handles: ({ operation, group, resource, subresource }) => (operation === 'CREATE' || operation === 'UPDATE') &&
    SUBRESOURCES.has(subresource) && podSpecPath(group, resource) !== undefined,
  findings: ({ group, resource, object }) =>
    findingsIn(podIn(group, resource, object)?.spec, podSpecPath(group, resource) ?? '', gates)
})

function findingsIn (spec: PodSpec | undefined, path: string, gates: Pick<Gates, 'enabled'>): FieldError[] {
  const findings: FieldError[] = []
  const inList = gates.enabled('PodFaultsNamePlaces') ? '' : '[0]' // as all findings in ephemeral containers
  for (const [list, suffix] of [
    ['initContainers', ''], ['containers', ''], ['ephemeralContainers', inList]
  ] as const) {
    for (const [index, { securityContext }] of (spec?.[list] ?? []).entries()) {
      if (securityContext?.privileged !== true) continue
      findings.push({
        type: 'FieldValueForbidden', field: `${path}.${list}[${index}]${suffix}.securityContext.privileged`,
        detail: 'disallowed by cluster policy'
      })
    }
  }
  if (spec !== undefined && hasHostProcess(spec)) {
    findings.push({
      type: 'FieldValueForbidden', field: path, detail: 'hostProcess containers are disallowed by cluster policy'
    })
  }
  return findings
}

function hasHostProcess (
  { securityContext, initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec
): boolean {
  const ofPod = securityContext?.windowsOptions?.hostProcess ?? false
  return [...initContainers, ...containers, ...ephemeralContainers]
    .some(({ securityContext }) => securityContext?.windowsOptions?.hostProcess ?? ofPod)
}
