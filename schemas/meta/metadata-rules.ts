/** Rules on names within metadata that other declarations use too. */
import type { Report } from '../language/declare.js'
import { qualifiedName } from '../names.js'
import { invalid, named } from '../rules/findings.js'

/** Holds a namespace until its contents are gone. */
export const NAMESPACE_FINALIZER = 'orch'
/** By which a garbage collector is asked to deal with the dependents first. */
export const ORPHAN_FINALIZER = 'orphan'
export const FOREGROUND_FINALIZER = 'foregroundDeletion'

/** Finalizers the server itself knows need no domain. */
const STANDARD: ReadonlySet<string> = new Set([NAMESPACE_FINALIZER, ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

/** What every name has to keep to. */
export function validateFinalizerName (name: string, at: string, report: Report): void {
  named(report, at, name, qualifiedName)
}

/** What most types ask of the finalizers of their objects. */
export function validateFinalizerDomains (finalizers: readonly string[] = [], report: Report): void {
  for (const [index, name] of finalizers.entries()) validateFinalizerDomain(name, `metadata.finalizers[${index}]`, report)
}

/** What is particular to finalizers. */
export function validateFinalizerDomain (name: string, at: string, report: Report): void {
  if (!name.includes('/') && !STANDARD.has(name)) invalid(report, at, name, 'name is neither a standard finalizer name nor is it fully qualified')
}
