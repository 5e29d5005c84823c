/** Real kubectl programs, each with a home of its own. */
import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import type { Readable } from 'node:stream'
import type { Json, Test } from '../build.js'
import { kubectlPrograms } from '../tools.js'
import { until } from './server.js'

/** Timeout of a call; the slowest take a few seconds on a busy machine. */
const TIMEOUT = 60_000
/** It seldom needs that much before it ends; collecting garbage would be a tenth of its CPU. */
const COLLECTS_LATE = { GOGC: 'off', GOMEMLIMIT: '300MiB' }

export interface Program { readonly path: string, readonly minor: number, readonly version: string }

let found: readonly Program[] | undefined

/** All of them, the oldest first. */
export function everyProgram (): Program[] {
  found ??= kubectlPrograms().map(path => {
    const { stdout } = spawnSync(path, ['version', '--client', '--output=json'], { encoding: 'utf8', timeout: TIMEOUT })
    const { clientVersion } = JSON.parse(stdout) as { clientVersion: { minor: string, gitVersion: string } }
    return { path, minor: Number.parseInt(clientVersion.minor, 10), version: clientVersion.gitVersion }
  })
  return [...found]
}

/** The oldest and the newest. */
export const programs = (): Program[] => everyProgram().filter((_, at, { length }) => at === 0 || at === length - 1)

export interface Result { readonly code: number, readonly out: string, readonly err: string }

export class Kubectl {
  readonly minor: number
  readonly #program: Program
  readonly #home: string
  readonly #env: NodeJS.ProcessEnv

  constructor (t: Test, program: Program, kubeconfig: string) {
    this.#program = program
    this.minor = program.minor
    this.#home = mkdtempSync(join(tmpdir(), 'orch-kubectl-'))
    t.teardown(() => { rmSync(this.#home, { recursive: true, force: true }) })
    this.#env = { PATH: process.env.PATH, HOME: this.#home, KUBECONFIG: kubeconfig, ...COLLECTS_LATE }
  }

  pathOf (name: string): string { return join(this.#home, name) }

  /** Writes a file, objects as JSON, and returns its path. */
  file (name: string, content: string | object, mode = 0o644): string {
    const path = this.pathOf(name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode })
    return path
  }

  run (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
    return new Promise(resolve => {
      execFile(this.#program.path, args, {
        env: { ...this.#env, ...env }, timeout: TIMEOUT, maxBuffer: 64 << 20, cwd: this.#home
      }, (error, out, err) => {
        resolve({
          code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
          out,
          err: error?.killed === true ? `${err}\nkilled: it took too long` : err
        })
      })
    })
  }

  /** Standard output, without its last line end. @throws Error when it fails */
  async ok (...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(args)
    if (code !== 0) {
      throw new Error(`kubectl ${args.join(' ')} (${this.#program.version}) failed with ${code}: ${out}${err}`)
    }
    return out.trimEnd()
  }

  /** What a call prints that reads this input. */
  async fed (input: string, ...args: string[]): Promise<string> {
    const child = spawn(this.#program.path, args, {
      env: this.#env, cwd: this.#home, stdio: ['pipe', 'pipe', 'inherit'], timeout: TIMEOUT
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
    child.stdin.end(input)
    const [code] = await once(child, 'close') as [number | null]
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} (${this.#program.version}) failed with ${code}: ${out}`)
    return out
  }

  async json (...args: string[]): Promise<Json> {
    return JSON.parse(await this.ok(...args, '--output=json')) as Json
  }

  /** Standard error of a call that must fail. @throws Error if it succeeds */
  async refused (...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(args)
    if (code === 0) {
      throw new Error(`kubectl ${args.join(' ')} (${this.#program.version}) was not refused: ${out}${err}`)
    }
    return err.trimEnd()
  }

  /** Starts a call that runs in the background. */
  begin (t: Test, ...args: string[]): Background {
    const background = new Background(spawn(this.#program.path, args, {
      env: this.#env, cwd: this.#home, stdio: ['ignore', 'pipe', 'pipe']
    }))
    t.teardown(() => background.stop())
    return background
  }
}

export class Background {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>
  readonly #closed: Promise<unknown>
  out = ''
  err = ''

  constructor (process: ChildProcessByStdio<null, Readable, Readable>) {
    this.#process = process
    this.#closed = once(process, 'close')
    process.stdout.setEncoding('utf8').on('data', (text: string) => { this.out += text })
    process.stderr.setEncoding('utf8').on('data', (text: string) => { this.err += text })
  }

  /** Resolves when its output matches. */
  async shows (pattern: RegExp): Promise<void> {
    await until(
      () => `kubectl to show ${pattern}, it showed ${JSON.stringify(this.out + this.err)}`,
      () => pattern.test(this.out), TIMEOUT
    )
  }

  /** Its exit code, once it has ended by itself. */
  async end (): Promise<number | null> {
    await this.#closed
    return this.#process.exitCode
  }

  async stop (): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill('SIGKILL')
    await this.#closed
  }
}
