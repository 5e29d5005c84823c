/** Programs of a test run, each with all its children: limited in time, measured, and ended with the run. */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpuOfChildren } from './cpu.js'

export interface Cost {
  readonly seconds: number
  /**
   * CPU seconds of all its processes that were waited for, 0 if the system does not say; of programs that end together,
   * the first gets the sum.
   */
  readonly cpu: number
}

export interface Ended extends Cost { readonly code: number, readonly output: string }

/** Running programs. Each leads a process group, so that none of its children outlives it. */
const running = new Set<ChildProcess>()

export const count = (): number => running.size

function killGroup (child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {} // it has ended
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const child of running) killGroup(child)
    process.exit(1)
  })
}

let spent = 0

/** Seconds of CPU of the processes that have ended since the last call. */
function spentSince (): number {
  const before = spent
  spent = cpuOfChildren()
  return spent - before
}

/** Runs Node in `cwd`, for at most that many seconds. The output ends with `not ok` if it was killed. */
export async function runNode (
  args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, limit: number
): Promise<Ended> {
  const since = Date.now()
  const child = spawn(process.execPath, args, {
    cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true
  })
  running.add(child)
  let output = ''
  const overdue = setTimeout(() => {
    output += `\nnot ok - had not ended after ${limit} s and was killed\n`
    killGroup(child)
  }, limit * 1000)
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => { output += text.toString() })
  let cpu = 0
  child.once('exit', () => { cpu = spentSince() })
  const code = await new Promise<number>(resolve => { child.on('close', status => { resolve(status ?? 1) }) })
  clearTimeout(overdue)
  running.delete(child)
  return { code, output, seconds: (Date.now() - since) / 1000, cpu }
}
