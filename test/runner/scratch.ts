/**
 * The folder for the tests' files: in memory, if the machine has such a file system with enough space. The stores sync
 * each write, which takes seconds on a shared disk; syncing protects against power loss, which no test simulates.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Bytes: twice the maximum of the tests, which includes an installation of all packages. */
const ROOM = 4 * 1024 ** 3

/** A new folder for the temporary files of a run; undefined if the usual one must do. */
export function scratchFolder (): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ROOM) return undefined
    const folder = mkdtempSync(join(MEMORY, 'orch-tests-'))
    chmodSync(folder, 0o755) // some tests run programs as other users
    process.once('exit', () => { rmSync(folder, { recursive: true, force: true }) })
    return runsPrograms(folder) ? folder : undefined
  } catch {
    return undefined // there is no such file system
  }
}

/** False if the file system is mounted without permission to run programs, as often in containers. */
function runsPrograms (folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o700 })
  return spawnSync(program).status === 0
}
