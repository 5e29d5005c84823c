/** Rules on paths of files. */
import { invalid } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'

/** No part of it leads up. */
export function checkNoWayUp (path: string, field: string, report: Report): void {
  if (path.split('/').includes('..')) invalid(report, field, path, "must not contain '..'")
}

/** It stays below where it begins. */
export function checkRelativePath (path: string, field: string, report: Report): void {
  if (path.startsWith('/')) invalid(report, field, path, 'must be a relative path')
  checkNoWayUp(path, field, report)
}

/** The node agent keeps files of its own beside, whose names begin with two dots. */
export function checkFilePath (path: string, field: string, report: Report): void {
  checkRelativePath(path, field, report)
  if (path.startsWith('..') && !path.startsWith('../')) invalid(report, field, path, "must not start with '..'")
}

const MOST_PERMISSIONS = 0o777

export function checkMode (mode: number | undefined, field: string, report: Report): void {
  if (mode !== undefined && (mode < 0 || mode > MOST_PERMISSIONS)) invalid(report, field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
}
