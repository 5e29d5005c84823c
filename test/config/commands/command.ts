/** Commands, as processes of their own or in this one, and stores for them. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { StoreCommand } from '../../../config/command-line.js'
import { runCommand } from '../../../config/commands/run.js'
import { fsck } from '../../../config/fsck.js'
import { openBackend } from '../../../storage/open.js'

export const CLI = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))

export interface Ended { readonly status: number | null, readonly stdout: string, readonly stderr: string }

/** In a process of its own. */
export function run (...args: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', timeout: 60_000 })
  return { status, stdout, stderr }
}

/** In this process, which is a twentieth of the CPU. What cli.ts adds to fsck's complaints is left out. */
export async function called (name: StoreCommand | 'fsck', ...args: string[]): Promise<Ended> {
  let [stdout, stderr] = ['', '']
  const [out, failed] = [(text: string): void => { stdout += text }, (text: string): void => { stderr += text }]
  const status = name === 'fsck'
    ? await fsck(args, out, failed)
    : await runCommand(name, args, { stdout: { write: out }, stderr: { write: failed } })
  return { status, stdout, stderr }
}

/** In a process of its own, because this process may be the store's server. */
export async function runBeside (...args: string[]): Promise<Ended> {
  const child = begin(...args)
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => { stdout += piece })
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => { stderr += piece })
  const [status] = await once(child, 'close') as [number | null]
  return { status, stdout, stderr }
}

export const begin = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

/** A store with that many objects of 1,000 bytes. */
export async function fill (directory: string, objects: number): Promise<void> {
  const backend = await openBackend({ kind: 'embedded', directory })
  for (let at = 0; at < objects; at += 500) {
    await Promise.all(Array.from(
      { length: Math.min(500, objects - at) },
      async (_, index) => await backend.create(`/registry/things/${at + index}`, Buffer.alloc(1000, `${at + index} `))
    ))
  }
  await backend.close()
}

/** Every object of a store, by key. */
export async function objectsOf (directory: string): Promise<Map<string, string>> {
  const backend = await openBackend({ kind: 'embedded', directory })
  try {
    return new Map((await backend.list({ start: '/registry/', end: '/registry0' })).kvs.map(
      ({ key, value }) => [key, Buffer.from(value).toString('latin1')]
    ))
  } finally {
    await backend.close()
  }
}
