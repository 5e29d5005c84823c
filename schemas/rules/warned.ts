/** Warnings that the emulated release does not give when it is an early one. */
import type { Gates } from '../gates.js'
import type { ObjectMeta } from '../meta/object.js'

export type Warn = (text: string) => void
type Check<T> = (object: T, old: T | undefined, warn: Warn) => void

/** What is warned of since 1.36. The public project began in releases between, which this server does not emulate. */
export const warnedLater = <T>(check: Check<T>) => (object: T, old: T | undefined, gates?: Gates): string[] => {
  const warnings: string[] = []
  if (gates?.enabled('WarningsOfTypes') === true) check(object, old, text => { warnings.push(text) })
  return warnings
}

/** @param texts of all, one after the other */
export const allWarnings = <T>(...texts: Array<(object: T, old: T | undefined, gates?: Gates) => readonly string[]>) =>
  (object: T, old: T | undefined, gates?: Gates): string[] => texts.flatMap(of => of(object, old, gates))

type Warnings<T> = (object: T, old: T | undefined, gates?: Gates) => string[]

/** The same for new objects, and updates that change what the generation counts. */
export const ofChanges = <T extends { readonly metadata: ObjectMeta }>(warnings: Warnings<T>): Warnings<T> =>
  (object, old, gates) =>
    old !== undefined && object.metadata.generation === old.metadata.generation ? [] : warnings(object, old, gates)
