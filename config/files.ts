/** Reads files that flags name; errors name the flag. */
import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync, type Stats } from 'node:fs'
import { readFile as readLater, stat as statLater } from 'node:fs/promises'
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

/** Describes a file system error. */
export function reasonOf (error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return Object.hasOwn(REASONS, code) ? REASONS[code] ?? code : error instanceof Error ? error.message : String(error)
}

/** Rejects pipes, which would block the process until written. @throws Error */
export const ordinaryText = (path: string): string => ordinaryBytes(path).toString()

function ordinaryBytes (path: string): Buffer {
  checkOrdinary(statSync(path))
  return readFileSync(path)
}

function checkOrdinary (stat: Stats): void {
  if (!stat.isFile()) throw new Error('it is not an ordinary file')
  if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
}

/** As `ordinaryText`, while the server runs. @throws Error that names the file */
export async function currentText (path: string): Promise<string> {
  try {
    checkOrdinary(await statLater(path))
    return await readLater(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * @param flagged the flag's value, if that file refers to `path`
 * @param what describes `path` in errors
 * @throws FlagError
 */
export function readBytes (flag: FlagName, path: string, flagged = path, what = ''): Buffer {
  try {
    return ordinaryBytes(path)
  } catch (error) {
    throw new FlagError(flag, flagged, `${what}cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

/** As `readBytes`. What is not UTF-8 is replaced: comments of certificates may be in any encoding. */
export const readFile = (flag: FlagName, path: string): string => readBytes(flag, path).toString()

/** As `readBytes`, of text whose every character counts. @throws FlagError for text in another encoding too */
export function readText (flag: FlagName, path: string): string {
  const bytes = readBytes(flag, path)
  if (!isUtf8(bytes)) throw new FlagError(flag, path, 'is not valid UTF-8')
  return bytes.toString()
}
