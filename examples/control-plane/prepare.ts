/**
 * Makes what each machine of a control plane needs: its manifests, its certificates and keys, and a kubeconfig for the
 * administrator. Run it once, on a trusted machine; it writes nothing outside of the folder it is given.
 *
 *     node dist/examples/control-plane/prepare.js FOLDER [--balancer=HOST] \
 *       [--controller-manager=COMMAND --controller-manager-image=IMAGE] [--scheduler=COMMAND --scheduler-image=IMAGE] \
 *       node-0=10.0.0.10 node-1=10.0.0.11 node-2=10.0.0.12
 *
 *     FOLDER/node-0/manifests, FOLDER/node-0/pki   for that machine; see README.md
 *     FOLDER/admin.kubeconfig                      a context for the balancer, the current one, and for each machine
 *     FOLDER/authorities                           the keys of both authorities, to be kept elsewhere
 */
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Pair } from '../../config/certificates.js'
import { COMMAND_OPTIONS, commandsOf, COMPONENTS, wordsOf, type Commands } from './components.js'
import { certify, type CertificateRequest } from '../../serving/certify.js'

export interface Machine { readonly name: string, readonly address: string }

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const TEMPLATES = ['orch-apiserver.yaml', 'etcd/etcd.yaml']
const HOST_NAME = /^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/
const SOURCE = fileURLToPath(new URL('../../../examples/control-plane/', import.meta.url))

/** Of the server's own service: the first of the default range. */
const SERVICE_ADDRESS = '10.0.0.1'

type Issue = (request: Pick<CertificateRequest, 'commonName' | 'organizations' | 'names' | 'uses'>) => Pair

function authority (commonName: string): Pair & { issue: Issue } {
  const from = new Date(Date.now() - HOUR)
  const own = certify({
    commonName, uses: ['server', 'client'], authority: true, from, until: new Date(from.getTime() + 10 * YEAR)
  })
  return {
    ...own, issue: request =>
      certify({ ...request, from, until: new Date(from.getTime() + YEAR), issuer: { commonName, key: own.key } })
  }
}

/** @throws Error for a name that nobody gives a value to */
export function fill (template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`a template asks for ${name}, which has no value`)
    return value
  })
}

/** Keys are their owner's alone. */
function write (folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content, { mode: /\.crt$/.test(name) ? 0o644 : 0o600, flag: 'wx' })
  }
}

const pair = (name: string, { certificate, key }: Pair): Record<string, string> =>
  ({ [`${name}.crt`]: certificate, [`${name}.key`]: key })

/**
 * @param folder one that does not exist yet
 * @param balancer the name or address by which clients reach a balancer in front of the servers, on port 6443
 * @param commands of the programs beside the servers, if there are any; see components.ts
 * @throws Error when it does, or when the machines are not three or more of different names and addresses
 */
export function prepare (
  folder: string, machines: readonly Machine[], balancer?: string, commands: Commands = {}
): void {
  if (existsSync(folder)) throw new Error(`${folder} is there already; name a folder that is not`)
  if (machines.length < 3 || machines.length % 2 === 0) {
    throw new Error('etcd needs an odd number of machines, three or more')
  }
  if (balancer !== undefined && isIP(balancer) !== 4 && !HOST_NAME.test(balancer)) {
    throw new Error(`"${balancer}" is no name or IPv4 address of a balancer`)
  }
  for (const { name, address } of machines) {
    if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
      throw new Error(`"${name}" is no name of a machine: lower-case letters, digits and - make one`)
    }
    if (isIP(address) !== 4) throw new Error(`"${address}" is no IPv4 address`)
  }
  for (const key of ['name', 'address'] as const) {
    if (new Set(machines.map(machine => machine[key])).size < machines.length) {
      throw new Error(`two machines have the same ${key}`)
    }
  }

  const clients = authority('orch')
  const etcd = authority('orch-etcd')
  // What one server issues all have to accept.
  const accounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
  }).privateKey
  const shared = {
    ETCD_SERVERS: machines.map(({ address }) => `https://${address}:2379`).join(','),
    ETCD_CLUSTER: machines.map(({ name, address }) => `${name}=https://${address}:2380`).join(',')
  }
  const given = COMPONENTS.flatMap(component => {
    const { image, command } = commands[component.name] ?? {}
    if (image === undefined || command === undefined) return []
    const { name, port } = component
    const words = new Map(machines.map(({ name: machine, address }) =>
      [machine, wordsOf(command, { component: name, machine, address, port })]))
    return [{ ...component, image, words }]
  })
  for (const machine of machines) {
    const { name, address } = machine
    const local = [address, '127.0.0.1', name, 'localhost']
    write(join(folder, name, 'pki'), {
      'ca.crt': clients.certificate,
      ...pair(
        'apiserver',
        clients.issue({
          commonName: 'orch-apiserver', names: [
            ...local, ...(balancer === undefined ? [] : [balancer]), SERVICE_ADDRESS,
            ...['orch', 'kubernetes'].flatMap(service =>
              ['', '.default', '.default.svc', '.default.svc.cluster.local'].map(rest => `${service}${rest}`))
          ], uses: ['server']
        })
      ),
      'audit-policy.yaml': readFileSync(join(SOURCE, 'audit-policy.yaml'), 'utf8'),
      'service-account.key': accounts,
      'etcd-ca.crt': etcd.certificate,
      // etcd is a client of itself.
      ...pair('etcd-server', etcd.issue({ commonName: name, names: local, uses: ['server', 'client'] })),
      ...pair('etcd-peer', etcd.issue({ commonName: name, names: local, uses: ['server', 'client'] })),
      ...pair('apiserver-etcd-client', etcd.issue({ commonName: 'orch-apiserver', uses: ['client'] })),
      ...Object.fromEntries(given.map(({ name: component, user }) => [
        `${component}.kubeconfig`,
        kubeconfig([machine], clients.certificate, {
          name: user, ...clients.issue({ commonName: user, uses: ['client'] })
        })
      ]))
    })
    write(join(folder, name, 'manifests'), Object.fromEntries(TEMPLATES.map(file =>
      [file.split('/').at(-1) ?? file, fill(withoutHead(readFileSync(join(SOURCE, file), 'utf8')), {
        ...shared, NAME: name, ADDRESS: address
      })])))
    write(join(folder, name, 'manifests'), Object.fromEntries(given.map(({ name: component, port, image, words }) =>
      [`${component}.yaml`, fill(withoutHead(readFileSync(join(SOURCE, 'component.yaml'), 'utf8')), {
        COMPONENT: component, IMAGE: image, ADDRESS: address, PORT: String(port),
        COMMAND: JSON.stringify(words.get(name))
      })])))
  }
  write(join(folder, 'authorities'), { ...pair('ca', clients), ...pair('etcd-ca', etcd) })
  write(folder, {
    'admin.kubeconfig': kubeconfig(
      [...(balancer === undefined ? [] : [{ name: 'balancer', address: balancer }]), ...machines], clients.certificate,
      {
        name: 'orch-admin',
        ...clients.issue({ commonName: 'orch-admin', organizations: ['system:masters'], uses: ['client'] })
      }
    )
  })
}

/** A template without the comment that explains it, which speaks of placeholders. */
const withoutHead = (text: string): string => text.replace(/^(?:#.*\n)+/, '')

function kubeconfig (
  machines: readonly Machine[], ca: string, { name: user, certificate, key }: Pair & { readonly name: string }
): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const lines = [
    'apiVersion: v1', 'kind: Config', `current-context: ${machines[0]?.name ?? ''}`,
    'clusters:',
    ...machines.map(({ name, address }) =>
      `- {name: ${name}, cluster: {server: "https://${address}:6443", certificate-authority-data: ${base64(ca)}}}`),
    'users:',
    `- {name: "${user}", user: {client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)}}}`,
    'contexts:',
    ...machines.map(({ name }) => `- {name: ${name}, context: {cluster: ${name}, user: "${user}"}}`)
  ]
  return `${lines.join('\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    const { values, positionals: [folder, ...machines] } = parseArgs({
      options: { balancer: { type: 'string' }, ...COMMAND_OPTIONS }, allowPositionals: true
    })
    if (folder === undefined) {
      throw new Error(
        'usage: prepare.js FOLDER [--balancer=HOST] [--controller-manager=COMMAND …] ' +
          'NAME=ADDRESS NAME=ADDRESS NAME=ADDRESS'
      )
    }
    prepare(folder, machines.map(machine => {
      const [name = '', address = ''] = machine.split('=')
      return { name, address }
    }), values.balancer, commandsOf(values))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
