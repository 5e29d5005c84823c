/** Folders that are made when they are missing. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it; one that is there is left as it is. The runtime's own way of doing this
 * never ends on a file system that says ENOENT where nothing can be made, such as /proc.
 *
 * @param mode of the folders that are made
 * @throws Error of the system, with its code
 */
export function makeFolder (path: string, mode = 0o777): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!isFolder(path)) throw error // else somebody else was faster
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
