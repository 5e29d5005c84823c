/** Validation of StorageVersionMigrations. */
import type { Report } from '../../../language/types.js'
import { validateConditions } from '../../../rules/conditions.js'
import { invalid, required } from '../../../rules/findings.js'
import type { StorageVersionMigrationStatus } from '../storageversionmigrations.js'

const VERSION = /^\d{1,18}$/

export function validateMigration ({ resource }: { readonly resource: string }, at: string, report: Report): void {
  if (resource === '') required(report, `${at}.resource`, 'resource is required')
}

const isTrue = ({ conditions = [] }: StorageVersionMigrationStatus, state: string): boolean =>
  conditions.some(({ type, status }) => type === state && status === 'True')

/** A migration that has ended stays ended, and the version it began with stays. */
export function validateMigrationStatus (
  status: StorageVersionMigrationStatus, old: StorageVersionMigrationStatus, report: Report
): void {
  const [at, { conditions = [], resourceVersion = '' }] = ['status', status]
  if (resourceVersion !== '' && !VERSION.test(resourceVersion)) {
    invalid(report, `${at}.resourceVersion`, resourceVersion, 'failed to parse resource version')
  }
  validateConditions(conditions, `${at}.conditions`, report)
  if ((old.resourceVersion ?? '') !== '' && resourceVersion !== old.resourceVersion) {
    invalid(report, `${at}.resourceVersion`, resourceVersion, 'cannot be updated')
  }
  const refuse = (why: string): void => { invalid(report, `${at}.conditions`, conditions, why) }
  const [succeeded, failed] = [isTrue(status, 'Succeeded'), isTrue(status, 'Failed')]
  if (succeeded && failed) refuse('Both success and failed conditions cannot be true at the same time')
  for (const [ended, state] of [[succeeded, 'success'], [failed, 'failed']] as const) {
    if (ended && isTrue(status, 'Running')) {
      refuse(`Running condition cannot be true when ${state} condition is true`)
    }
  }
  for (const [state, name] of [['Succeeded', 'Success'], ['Failed', 'Failed']] as const) {
    if (isTrue(old, state) && !isTrue(status, state)) {
      refuse(`${name} condition cannot be set to false once it is true`)
    }
  }
}
