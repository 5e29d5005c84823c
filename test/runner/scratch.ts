/**
 * Where the tests keep their files: in memory where the machine has a file system there with room. The stores sync each write, and a disk that
 * others use too makes that seconds; no test takes the power away, which is what syncing is for.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Bytes: of the tests at their largest, an installation of all packages among them, twice. */
const ROOM = 4 * 1024 ** 3

/** A new folder for the temporary files of a run, undefined where the usual one will have to do. */
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

/** In containers it is often mounted so that it does not. */
function runsPrograms (folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o700 })
  return spawnSync(program).status === 0
}
