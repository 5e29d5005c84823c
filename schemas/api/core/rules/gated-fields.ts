/** Drops pod fields of features disabled in this release, unless the existing object uses them. */
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'

const DEFAULT_PROC_MOUNT = 'Default'

interface Templated { readonly template?: { spec?: PodSpec | undefined } | undefined }

const containersOf = (spec: PodSpec | undefined): Array<Partial<Container>> => [...spec?.initContainers ?? [], ...spec?.containers ?? [], ...spec?.ephemeralContainers ?? []]
const probesOf = ({ livenessProbe, startupProbe }: Partial<Container>): Array<NonNullable<Container['livenessProbe']>> => [livenessProbe, startupProbe].filter(probe => probe !== undefined)
const constraintsOf = (spec: PodSpec | undefined): NonNullable<PodSpec['topologySpreadConstraints']> => spec?.topologySpreadConstraints ?? []

/** @param old undefined on create */
export function dropGatedPodFields (spec: PodSpec | undefined, old: PodSpec | undefined): void {
  const [containers, before] = [containersOf(spec), containersOf(old)]
  if (!before.some(container => probesOf(container).some(probe => probe.terminationGracePeriodSeconds !== undefined))) {
    for (const probe of containers.flatMap(probesOf)) delete probe.terminationGracePeriodSeconds
  }
  if (!before.some(({ securityContext }) => (securityContext?.procMount ?? DEFAULT_PROC_MOUNT) !== DEFAULT_PROC_MOUNT)) {
    for (const { securityContext } of containers) if (securityContext?.procMount !== undefined) securityContext.procMount = DEFAULT_PROC_MOUNT
  }
  if (!constraintsOf(old).some(({ minDomains }) => minDomains !== undefined)) for (const constraint of constraintsOf(spec)) delete constraint.minDomains
}

/** The same for objects with a pod template. */
export function dropGatedTemplateFields (object: { readonly spec: Templated }, old: { readonly spec: Templated } | undefined): void {
  dropGatedPodFields(object.spec.template?.spec, old?.spec.template?.spec)
}
