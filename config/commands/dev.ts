/** The flags of `orch-apiserver dev`. The command itself is in `testing/dev/`, a higher layer. */
import type { CommandForm } from '../command-line.js'
import { emulatedRelease } from '../emulated-release.js'
import { bool, int, path, repeated, text } from '../flag.js'

const PORT = { min: 0, max: 65535 }

export const DEV_FLAGS = {
  port: int(0, 'the port of the API, 0 for a free one', PORT),
  'admin-port': int(0, 'the port of the admin API, 0 for a free one', PORT),
  fixtures: repeated('a file of objects in YAML or JSON, or a folder of such files; may be given several times'),
  kubeconfig: path('the file to write the kubeconfig to, which is printed otherwise'),
  now: text(
    '', 'the time at which the clock is held from the start, such as 2030-01-01T00:00:00Z; empty for one that runs',
    value => Number.isNaN(Date.parse(value || '2030-01-01')) ? 'must be a time such as 2030-01-01T00:00:00Z' : undefined
  ),
  'compat-names': bool(false, 'serve everything under the names of Kubernetes too, as release 1.36'),
  simulate: int(0, 'how many nodes are simulated, which stay Ready and run pods; 0 for none', { min: 0, max: 1000 }),
  stages: repeated('a file of stages of the simulation in YAML or JSON, or a folder; may be given several times'),
  release: emulatedRelease('release whose feature gates the server has, as --emulated-version of a server'),
  seed: int(0, 'seed of the random choices of faults, 0 for a random one', { min: 0, max: 2 ** 32 - 1 }),
  help: bool(false, 'print this text and exit')
}

export const DEV_FORM: CommandForm = {
  name: 'orch-apiserver dev',
  usage: '[--fixtures=PATH] [--kubeconfig=FILE]',
  description: `A server for tests of programs in any language: everything in memory, on 127.0.0.1, with TLS. The \
administrator of the kubeconfig may do everything, and a test may hold and move the clock and inject faults by the \
admin API, which GET / lists.

Standard error gets a line when it serves. It ends on SIGTERM and SIGINT, and everything is forgotten.`,
  sections: { Flags: DEV_FLAGS as unknown as CommandForm['sections'][string] } // each parses its own values
}
