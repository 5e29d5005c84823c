/** Validation of file paths and modes. */
import { invalid } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'

export function checkNoWayUp (path: string, field: string, report: Report): void {
  if (path.split('/').includes('..')) invalid(report, field, path, "must not contain '..'")
}

export function checkRelativePath (path: string, field: string, report: Report): void {
  if (path.startsWith('/')) invalid(report, field, path, 'must be a relative path')
  checkNoWayUp(path, field, report)
}

/** A file in a projected volume; the node agent reserves names that begin with two dots. */
export function checkFilePath (path: string, field: string, report: Report): void {
  checkRelativePath(path, field, report)
  if (path.startsWith('..') && !path.startsWith('../')) invalid(report, field, path, "must not start with '..'")
}

const MAX_PERMISSIONS = 0o777

export function checkMode (mode: number | undefined, field: string, report: Report): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_PERMISSIONS)) {
    invalid(report, field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
  }
}
