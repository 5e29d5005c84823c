/** Names servers that keep a process running which has nothing else to do, since a test forgot to dispose them. */
import { setInterval } from 'node:timers'

/** Milliseconds between looks; a server is named if nothing else runs at two of them. */
const INTERVAL = 3000
/** What listens, what a process always has, and what only waits for its parent. */
const IDLE = new Set(['TCPServerWrap', 'TTYWrap', 'PipeWrap', 'SignalWrap'])

const running = new Map<object, string>()
let timer: NodeJS.Timeout | undefined
let wasIdle = false

/** @param startedAt a line of its caller's stack */
export function watchFor (server: object, startedAt: string): void {
  running.set(server, startedAt)
  timer ??= setInterval(look, INTERVAL).unref()
}

export function forget (server: object): void {
  running.delete(server)
  if (running.size > 0) return
  clearInterval(timer)
  timer = undefined
  wasIdle = false
}

function look (): void {
  const isIdle = process.getActiveResourcesInfo().every(resource => IDLE.has(resource))
  if (!isIdle || !wasIdle) {
    wasIdle = isIdle
    return
  }
  for (const startedAt of running.values()) {
    process.stderr.write(`orch-apiserver/testing: only the test server started ${startedAt} keeps this process ` +
      'running; call its dispose(), or declare it with `await using`\n')
  }
  running.clear()
  clearInterval(timer)
  timer = undefined
}

/** Where the caller of a function is: `at file:line`. */
export function callerOf (called: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, called)
  return holder.stack?.split('\n').find(line => /^\s+at /.test(line))?.trim() ?? 'somewhere'
}
