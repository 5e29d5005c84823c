import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its parents; an existing one stays unchanged. Node's recursive mkdir never returns on file
 * systems that report ENOENT where nothing can be created, such as /proc.
 * @param mode of the created folders
 * @throws Error of the system, with its code
 */
export function makeFolder (path: string, mode = 0o777): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!isFolder(path)) throw error // another process created it
  }
}

/** Makes the contents of a file, or the names in a folder, durable. */
export function sync (path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function isFolder (path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}
