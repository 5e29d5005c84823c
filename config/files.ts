/** Files that flags name. What is wrong with one ends the start, naming the flag. */
import { readFileSync, statSync } from 'node:fs'
import { FlagError } from './flag.js'
import type { FlagName } from './flags/index.js'

/** More than any certificate, token or configuration file needs. */
const MAX_BYTES = 16 * 1024 * 1024

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EEXIST: 'something else has its name',
  EISDIR: 'it is a folder',
  EROFS: 'its file system is read-only',
  ENOTDIR: 'a part of its path is not a folder',
  ELOOP: 'its path has too many symbolic links',
  ENAMETOOLONG: 'its path is too long'
}

/** Says in words why a file system call failed. */
export function reasonOf (error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return Object.hasOwn(REASONS, code) ? REASONS[code] ?? code : error instanceof Error ? error.message : String(error)
}

/** Of a pipe nobody would know when it is read, and nothing else would go on meanwhile. @throws Error */
export function ordinaryText (path: string): string {
  const stat = statSync(path)
  if (!stat.isFile()) throw new Error('it is not an ordinary file')
  if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
  return readFileSync(path, 'utf8')
}

/**
 * @param flagged value of the flag, where it names another file which in turn names this one
 * @param what that is, for errors
 * @throws FlagError
 */
export function readFile (flag: FlagName, path: string, flagged = path, what = ''): string {
  try {
    return ordinaryText(path)
  } catch (error) {
    throw new FlagError(flag, flagged, `${what}cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}
