/** Files that the server makes for itself and finds again: whole or not there at all, however the process ends. */
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** In the place of whatever is there. @throws Error of the system */
export function replaceFile (path: string, content: string, mode: number): void {
  renameSync(writeBeside(path, content, mode), path)
}

/** False when it is there already, be it made by another process a moment ago. @throws Error of the system */
export function createFile (path: string, content: string, mode: number): boolean {
  const temporary = writeBeside(path, content, mode)
  try {
    linkSync(temporary, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(temporary, { force: true })
  }
}

function writeBeside (path: string, content: string, mode: number): string {
  const temporary = `${path}.${process.pid}`
  const file = openSync(temporary, 'w', mode)
  try {
    chmodSync(temporary, mode) // a file left behind by a killed process keeps its mode
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return temporary
}
