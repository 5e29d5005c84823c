/** Finalizer names: validation, and the standard ones. */
import type { Report } from '../language/declare.js'
import { qualifiedName } from '../names.js'
import { invalid, checkName } from '../rules/findings.js'
import { warnedLater } from '../rules/warned.js'

/** Keeps a namespace until its contents are deleted. */
export const NAMESPACE_FINALIZER = 'orch'
/** These ask the garbage collector to handle dependents first. */
export const ORPHAN_FINALIZER = 'orphan'
export const FOREGROUND_FINALIZER = 'foregroundDeletion'

/** Standard finalizers, which need no domain. */
const STANDARD: ReadonlySet<string> = new Set([NAMESPACE_FINALIZER, ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

interface Finalized { readonly metadata: { readonly finalizers?: readonly string[] | undefined } }

/** Of new finalizers of objects whose finalizers are not checked. */
export const finalizerWarnings = warnedLater<Finalized>(
  ({ metadata: { finalizers = [] } }, old, warn) => {
    const before = new Set(old?.metadata.finalizers)
    for (const name of finalizers) {
      if (before.has(name)) continue
      for (const text of qualifiedName(name)) warn(text)
      if (name.includes('/') || STANDARD.has(name)) continue
      warn(`metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name including a path ` +
        '(/) to avoid accidental conflicts with other finalizer writers')
    }
  })

/** Applies to every finalizer. */
export function validateFinalizerName (name: string, at: string, report: Report): void {
  checkName(report, at, name, qualifiedName)
}

/** Applies to the finalizers of most types. */
export function validateFinalizerDomains (finalizers: readonly string[] = [], report: Report): void {
  for (const [index, name] of finalizers.entries()) {
    validateFinalizerDomain(name, `metadata.finalizers[${index}]`, report)
  }
}

export function validateFinalizerDomain (name: string, at: string, report: Report): void {
  if (!name.includes('/') && !STANDARD.has(name)) {
    invalid(report, at, name, 'name is neither a standard finalizer name nor is it fully qualified')
  }
}
