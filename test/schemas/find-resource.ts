/** A built-in type in one of its versions, for tests. */
import type { Representation } from '../../schemas/resource.js'
import { representations } from '../../schemas/resources.js'

export function findResource (group: string, version: string, plural: string): Representation | undefined {
  return representations.find(representation => representation.group === group && representation.version === version &&
    representation.plural === plural)
}
