/** `orch-apiserver dev`: a test server as a process, with an admin API. */
import { once } from 'node:events'
import { ArgumentError, helpText, parseCommand } from '../../config/command-line.js'
import { DEV_FORM } from '../../config/commands/dev.js'
import { FlagError, printable } from '../../config/flag.js'
import type { Release } from '../../schemas/meta/release.js'
import type { TestServer, TestServerOptions } from '../contract.js'
import { startServer } from '../server.js'
import { readStages } from '../simulator/stage-files.js'
import { ADMINISTRATOR } from '../users.js'
import { openAdmin } from './admin.js'

/** The values of the flags. */
interface Values {
  readonly port: number
  readonly 'admin-port': number
  readonly fixtures: readonly string[]
  readonly kubeconfig: string
  readonly now: string
  readonly release: Release
  readonly 'compat-names': boolean
  readonly simulate: number
  readonly stages: readonly string[]
  readonly seed: number
  readonly help: boolean
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Runs until a signal. @returns the exit code */
export async function runDev (args: readonly string[]): Promise<number> {
  const abort = new AbortController()
  const ended = Promise.race(SIGNALS.map(signal => once(process, signal, { signal: abort.signal }))).catch(() => {})
  let server: TestServer | undefined
  try {
    const { values: parsed, given } = parseCommand(args, DEV_FORM)
    const values = parsed as unknown as Values
    if (values.help) {
      process.stdout.write(helpText(DEV_FORM))
      return 0
    }
    server = await startServer(optionsOf(values, given.has('release')))
    const admin = await openAdmin(server, values['admin-port'])
    if (values.kubeconfig === '') process.stdout.write(server.kubeconfig(ADMINISTRATOR))
    else await server.writeKubeconfig(values.kubeconfig, ADMINISTRATOR)
    process.stderr.write(
      `orch-apiserver dev: serving on ${server.url}, admin API on ${admin.url}, seed ${server.faults.seed}\n` +
        `orch-apiserver dev: ${isSimulated(values)
          ? 'nodes and pods are simulated, but no controller manager acts on objects'
          : 'nothing runs here: objects are stored, but no controller manager, scheduler or node acts on them'}\n`
    )
    await ended
    await admin.close()
    return 0
  } catch (error) {
    process.stderr.write(`orch-apiserver dev: ${reasonOf(error)}\n`)
    return 1
  } finally {
    abort.abort()
    await server?.dispose()
  }
}

const isSimulated = ({ simulate, stages }: Values): boolean => simulate > 0 || stages.length > 0

function optionsOf (values: Values, emulates: boolean): TestServerOptions {
  const { port, fixtures, now, release, seed, simulate: nodes, stages, 'compat-names': compatNames } = values
  return {
    tls: true, port, fixtures, log: true, user: false,
    server: { authorization: { modes: ['RBAC'] }, collectGarbage: true, standalone: !isSimulated(values), compatNames },
    ...compatNames && !emulates ? {} : { release },
    ...now === '' ? {} : { now: new Date(now) }, ...seed === 0 ? {} : { seed },
    ...isSimulated(values) ? { simulate: { nodes, stages: readStages(stages) } } : {}
  }
}

function reasonOf (error: unknown): string {
  if (error instanceof FlagError || error instanceof ArgumentError) return error.message
  const { code, message, port } = error as { code?: unknown, message?: unknown, port?: unknown }
  if (code === 'EADDRINUSE') {
    return `port ${String(port)} is in use on 127.0.0.1; choose another one with --port or --admin-port, or 0`
  }
  return printable(String(message ?? error), 1000)
}
