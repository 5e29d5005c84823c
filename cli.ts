/**
 * The launcher: parses flags, starts the server and handles signals. Start-up errors are one line on standard error,
 * with exit code 1. `fsck`, `snapshot` and others as the first argument do something else with a store instead; `dev`
 * runs a test server.
 */
import {
  ArgumentError, COMMANDS, helpText, PRINTING_COMMANDS, STORE_COMMANDS, versionText, type Parsed
} from './config/command-line.js'
import { FlagError, printable } from './config/flag.js'
import { checkedFlags } from './config/options.js'
import { servingProcesses } from './config/serving-processes.js'
import { storeFlag } from './config/store.js'
import { SupervisorChannel, partOf } from './serving/processes/supervisor-channel.js'
import { ROLE, STORE } from './serving/processes/messages.js'
import { FREEZE, freezeShared } from './storage/cache/shared.js'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Describes a start-up error in one line. */
function describeFailure (error: unknown, parsed: Parsed | undefined): string {
  if (error instanceof FlagError || error instanceof ArgumentError) return error.message
  const { code, message } = error as { code?: unknown, message?: unknown }
  const values = parsed?.values
  if (values !== undefined) {
    const port = `--secure-port=${values['secure-port']}`
    const address = `--bind-address=${values['bind-address']}`
    switch (code) {
      case 'EADDRINUSE':
        return `${port}: the port is in use on ${values['bind-address']}; choose another one or end what listens there`
      case 'EACCES': return `${port}: this user may not listen there; choose a port above 1023`
      case 'EADDRNOTAVAIL': return `${address}: this host has no such address; name one of its own or 0.0.0.0`
      case 'EAFNOSUPPORT': return `${address}: this host does not speak that version of IP; name another address`
    }
  }
  const text = printable(String(message ?? error), 1000)
  if (values !== undefined && error instanceof Error && error.name === 'StorageError') {
    return `${storeFlag(values)}: ${text}`
  }
  return `cannot start: ${text}`
}

/** @param command one of COMMANDS */
async function run (command: string, args: readonly string[]): Promise<void> {
  const printing = PRINTING_COMMANDS.find(name => name === command)
  const storing = STORE_COMMANDS.find(name => name === command)
  if (command === 'fsck') {
    const { fsck } = await import('./config/fsck.js')
    process.exitCode = await fsck(args, text => { process.stdout.write(text) }, text => {
      process.stderr.write(`orch-apiserver fsck: ${text}\n`)
    })
  } else if (command === 'dev') {
    const { runDev } = await import('./testing/dev/run.js')
    process.exitCode = await runDev(args)
  } else if (printing !== undefined) {
    const { printed } = await import('./config/commands/printed.js')
    process.stdout.write(await printed(printing, args))
  } else if (storing !== undefined) {
    const { runCommand } = await import('./config/commands/run.js')
    process.exitCode = await runCommand(storing, args)
  }
}

async function main (args: readonly string[]): Promise<void> {
  let parsed: Parsed | undefined
  const fail = (error: unknown): never => {
    process.stderr.write(`orch-apiserver: ${describeFailure(error, parsed)}\n`)
    if (parsed !== undefined && parsed.values.v >= 6 && error instanceof Error && error.stack !== undefined) {
      process.stderr.write(`${error.stack}\n`)
    }
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  // Node 20 may spin for ever when it closes what is left at its natural end, as that of a command; process.exit()
  // closes nothing. https://github.com/nodejs/node/issues/47748
  process.once('beforeExit', () => process.exit())
  if (process.env[FREEZE] === '1') freezeShared('everything')
  const role = process.env[ROLE]
  delete process.env[ROLE] // of what this process starts
  const supervisor = role === undefined ? undefined : new SupervisorChannel(partOf(role))
  // The kernel ignores SIGTERM for process 1 without a handler. For others the default action ends even a blocked
  // start.
  if (process.pid === 1) for (const signal of SIGNALS) process.on(signal, () => process.exit(1))
  try {
    if (COMMANDS.includes(args[0] ?? '')) {
      await run(args[0] ?? '', args.slice(1))
      return
    }
    parsed = checkedFlags(args)
    if (parsed.values.help || parsed.values.version) {
      process.stdout.write(parsed.values.help ? helpText() : `${versionText()}\n`)
      return
    }
    if (role === STORE && supervisor !== undefined) {
      return await (await import('./serving/processes/store-process.js')).runStore(parsed, supervisor)
    }
    if (role === undefined && servingProcesses(parsed.values) > 1) {
      return await (await import('./serving/processes/supervisor.js')).supervise(parsed)
    }
    const [{ reportToServiceManager, start }, { server: orch }] = await Promise
      .all([import('./serving/start.js'), import('./app.js')])
    const running = await start(parsed, orch, fail, supervisor)
    if (supervisor === undefined) reportToServiceManager(running)
  } catch (error) {
    fail(error)
  }
}

void main(process.argv.slice(2)) // it reports its own errors
