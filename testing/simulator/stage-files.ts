/** Stages from files: `kind: Stage` with a name, and the members of a stage below `spec`. */
import { readFixtures } from '../fixtures.js'
import type { Stage } from './stage.js'

export const STAGE_API = 'simulator.orch.io/v1'

/** @throws Error that names the document */
export function readStages (paths: readonly string[]): Stage[] {
  return readFixtures(paths).map(({ object, source }) => {
    const { apiVersion, kind, metadata: { name }, spec } = object as typeof object & { spec?: object }
    if (kind !== 'Stage' || apiVersion !== STAGE_API) {
      throw new Error(`${source}: ${kind} in ${apiVersion} is no Stage in ${STAGE_API}`)
    }
    return { name, ...spec } as Stage // as far as the check finds
  })
}
