/** Writes files atomically: after a crash the old content, the new content or no file is there. */
import { open, rename } from 'node:fs/promises'
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** Overwrites an existing file. @throws Error of the system */
export function replaceFile (path: string, content: string, mode: number): void {
  renameSync(writeBeside(path, content, mode), path)
}

/** As `replaceFile`, without holding the event loop while the disk is slow. @throws Error of the system */
export async function replaceFileLater (path: string, content: string, mode: number): Promise<void> {
  const temporary = `${path}.${process.pid}`
  const file = await open(temporary, 'w', mode)
  try {
    await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

/**
 * Returns false if the file already exists, even if another process has just created it.
 * @throws Error of the system
 */
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
    chmodSync(temporary, mode) // a leftover of a killed process keeps its old mode
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return temporary
}
