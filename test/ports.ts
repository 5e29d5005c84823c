/**
 * Ports for programs that cannot choose one: the secure port is never 0, and members of an etcd cluster name each
 * other's ports before they start. The ports are below those that the kernel gives to others, and each belongs to one
 * test process of this user until it ends, in whatever run.
 */
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const FIRST = 15_000
/** The kernel's own ports begin at 32768. */
const COUNT = 17_000
const RETRY = 200

/** Not in the folder for temporary files, of which each run has its own. */
const folder = `/tmp/orch-test-ports-${process.getuid?.() ?? 0}`
const own: string[] = []
let next = Math.floor(Math.random() * COUNT)

process.once('exit', () => { for (const claim of own) rmSync(claim, { force: true }) })

/** A port that nobody listens on and no other test gets. */
export async function freePort (): Promise<number> {
  mkdirSync(folder, { recursive: true })
  for (;;) {
    const port = FIRST + next++ % COUNT
    if (claims(join(folder, String(port))) && await isFree(port)) return port
  }
}

/** Waits until no other test has this port, which a document names. */
export async function claimPort (port: number): Promise<void> {
  mkdirSync(folder, { recursive: true })
  while (!claims(join(folder, String(port)))) await new Promise(resolve => { setTimeout(resolve, RETRY) })
}

export async function freePorts (count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports
}

function claims (path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    own.push(path)
    return true
  } catch {
    release(path)
    return false
  }
}

/** A killed process leaves its claims behind. */
function release (path: string): void {
  try {
    process.kill(Number(readFileSync(path, 'utf8')), 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(path, { force: true })
  }
}

async function isFree (port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port) // on all addresses
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
