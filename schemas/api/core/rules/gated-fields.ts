/** Annotations of pods that a feature gate brings. Gated fields have `gate` in their declaration. */
import type { Gates } from '../../../gates.js'
import type { ObjectMeta } from '../../../meta/object.js'

const APPARMOR = 'container.apparmor.security.beta.orch.io/'

type Metadata = Pick<ObjectMeta, 'annotations'>
interface Templated { readonly template?: { metadata: Metadata } | undefined }

const isUsed = (annotations: ObjectMeta['annotations']): boolean =>
  Object.keys(annotations ?? {}).some(key => key.startsWith(APPARMOR))

/** Drops AppArmor profiles of a pod while their gate is off, unless `old` has some; `old` is undefined on create. */
export function dropGatedAnnotations (metadata: Metadata | undefined, old: Metadata | undefined, gates: Gates): void {
  if (gates.enabled('AppArmor') || metadata === undefined || !isUsed(metadata.annotations) ||
    isUsed(old?.annotations)) return
  metadata.annotations = Object
    .fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith(APPARMOR)))
}

/** The same for objects with a pod template. */
export function dropOfTemplate (
  object: { readonly spec: Templated }, old: { readonly spec: Templated } | undefined, gates: Gates
): void {
  dropGatedAnnotations(object.spec.template?.metadata, old?.spec.template?.metadata, gates)
}
