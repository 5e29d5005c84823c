/** API groups by two names, the public project's, which stock clients were built with, and ours: they differ in their last part. */
import { representations } from '../../schemas/resources.js'

export type Names = ReadonlyMap<string, string>

const renamed = [...new Set(representations.map(({ group }) => group))].filter(name => name.endsWith('.orch.io')).map(name => [name.replace(/\.orch\.io$/, '.k8s.io'), name] as const)
export const TO_OURS: Names = new Map(renamed)
export const TO_PUBLIC: Names = new Map(renamed.map(([stock, ours]) => [ours, stock]))

/** Of `/apis/GROUP/…`, `/openapi/v3/apis/GROUP/…`, and `apis/GROUP/VERSION` as the index of OpenAPI has it. */
export const renamePath = (url: string, names: Names): string =>
  url.replace(/^((?:\/openapi\/v3)?\/?apis\/)([^/?]+)/, (_whole, before: string, group: string) => before + (names.get(group) ?? group))

/** `GROUP` or `GROUP/VERSION`. */
export const renameText = (text: string, names: Names): string =>
  text.replace(/^[^/]+(?=\/\w+$|$)/, group => names.get(group) ?? group)
