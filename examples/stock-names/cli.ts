#!/usr/bin/env node
/** The command `orch-stock-names`. Start-up errors are one line on standard error, with exit code 1. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { parseArgs } from 'node:util'
import { stockNames } from './proxy.js'

const FLAGS = {
  server: ['URL', 'https://localhost:6443', 'the server'],
  port: ['N', '6444', 'port on 127.0.0.1'],
  'certificate-authority': ['FILE', '', 'CA bundle that verifies the server; default the public authorities'],
  'tls-cert-file': ['FILE', '', 'certificate of the proxy, for localhost; on the machine of the server its own will do'],
  'tls-private-key-file': ['FILE', '', 'its key']
} as const
type Name = keyof typeof FLAGS

const HELP = `orch-stock-names: lets clients that know API groups by their public names, such as rbac.authorization.k8s.io, speak
to a server that has them as rbac.authorization.orch.io. It listens on this machine alone and passes on the clients' tokens.

Usage: orch-stock-names [flags]

${Object.entries(FLAGS).map(([name, [value, fallback, what]]) => `  ${`--${name}=${value}`.padEnd(30)} ${what}${fallback === '' ? '' : ` (default ${fallback})`}`).join('\n')}
  ${'--help'.padEnd(30)} this text

Then: kubectl --server=https://localhost:6444 auth can-i list roles.rbac.authorization.k8s.io
`

/** For the user; anything else is reported with its own message. */
class Mistake extends Error {}

function read (values: Readonly<Partial<Record<Name, string>>>, name: Name, why: string): string {
  const path = values[name] ?? ''
  if (path === '') throw new Mistake(`--${name} is needed: ${why}`)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Mistake(`--${name}=${path}: cannot be read (${String((error as NodeJS.ErrnoException).code)})`)
  }
}

function serve (): void {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { server: text, port: text, 'certificate-authority': text, 'tls-cert-file': text, 'tls-private-key-file': text, help: { type: 'boolean', short: 'h' } } })
  if (values.help === true) {
    process.stdout.write(HELP)
    return
  }
  const { server = FLAGS.server[1], port = FLAGS.port[1] } = values
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) throw new Mistake(`--server=${server}: must be a URL such as ${FLAGS.server[1]}`)
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535 || Number(port) < 1) throw new Mistake(`--port=${port}: must be a port, 1 to 65535`)
  const why = 'clients send tokens only over TLS'
  const pair = { cert: read(values, 'tls-cert-file', why), key: read(values, 'tls-private-key-file', why) }
  const authority = values['certificate-authority'] === undefined ? undefined : read(values, 'certificate-authority', 'it is empty')
  const proxy = createServer(pair, stockNames(new URL(server), authority))
  proxy.on('error', fail)
  proxy.listen(Number(port), '127.0.0.1', () => { console.log(`https://localhost:${port} speaks stock names for ${server}`) })
}

function fail (error: unknown): never {
  const { message } = error as Error
  process.stderr.write(`orch-stock-names: ${error instanceof Mistake ? message : message.replaceAll('\n', ' ')}; see --help\n`)
  process.exit(1)
}

try {
  serve()
} catch (error) {
  fail(error)
}
