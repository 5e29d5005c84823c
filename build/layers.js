// Import rules: the layers of docs/architecture.md. Imports between rooms are denied unless listed, for new rooms and files too.
// test/lint.test.ts covers each line.
import { dirname, relative, resolve } from 'node:path'
import { cycles } from './cycles.js'

const root = resolve(import.meta.dirname, '..')
const type = 'problem'

/** Modules of plugins/ that `config/` may import: plugin options and parsers for flags. */
const OPTIONS = ['audit', 'authentication', 'authorization', 'connections', 'storage', 'metrics', 'profiling', 'tracing'].map(name => `plugins/${name}/index`).concat(
  ['health', 'request-log', 'security-headers', 'shutdown'].map(name => `plugins/${name}`),
  ['token-file', 'request-header', 'webhook', 'service-account/keys', 'oidc/index'].map(name => `plugins/authentication/${name}`),
  ['plugins/authorization/webhook', 'plugins/storage/outbound'])

/** Rooms in ascending order. Each may import those before it in its list. */
const STATE = ['schemas', 'storage']
const RIGHTS = [...STATE, 'auth']
const OBJECTS = [...RIGHTS, 'flow-control', 'registry']
const RULES = [...OBJECTS, 'admission']
const LOOPS = [...RULES, 'controllers']
const KNOWS = {
  schemas: [],
  storage: ['schemas'],
  auth: STATE,
  'flow-control': RIGHTS,
  registry: RIGHTS,
  admission: OBJECTS,
  controllers: RULES,
  routes: [...OBJECTS, 'plugins/context', 'serving/wire'],
  plugins: [...LOOPS, 'clients', 'serving/wire'],
  clients: ['schemas'], // passed to callers of other servers
  config: [...LOOPS, 'clients', ...OPTIONS],
  serving: ['config', 'clients/watched-files', 'storage/folder', 'auth/authorities', 'schemas/limits'],
  app: ['config/feature-gates', 'config/server-options', 'plugins', 'routes', ...OBJECTS],
  build: [], // it loads the bundle of cli
  cli: ['app', 'config', 'serving/launch']
}
/** Exempt from the rules. */
const FREE = ['test', 'examples']

/** Shared files of plugins/. No plugin may import any other file of another plugin. */
const SHARED = ['accept', 'audit-id', 'context', 'host-header', 'in-flight-metrics', 'lifecycle', 'metric-series', 'occasionally', 'outgoing-metrics', 'queued-responses', 'request-kinds', 'review-metrics', 'sent-bytes', 'sent-headers', 'server', 'indexed-list', 'unread-bodies', 'unsent-responses', 'utilization'].map(name => `plugins/${name}`)

/** Modules that may import each back end. */
const BACK_ENDS = {
  'storage/etcd': ['storage/etcd', 'storage/open'],
  'storage/embedded': ['storage/embedded', 'storage/open', 'config/fsck']
}

/** Packages restricted to certain modules. */
const PACKAGES = [
  [/^@?fastify/, ['app', 'serving/launch', 'plugins', 'routes', 'config/logging']],
  [/^etcd3(?:\/|$)/, ['storage/etcd']],
  [/^protobufjs(?:\/|$)/, ['storage/etcd', 'schemas/openapi']],
  [/^@sinclair\/typebox(?:\/|$)/, ['schemas/language']],
  [/^lmdb$/, ['storage/embedded']],
  [/^commander$/, ['config/command-line']],
  [/^pino$/, ['config/logging']],
  [/^undici$/, ['clients']],
  [/^jose(?:\/|$)/, ['plugins/authentication']],
  [/^@opentelemetry\//, ['plugins/tracing/open-telemetry']],
  [/^@grpc\//, ['plugins/tracing/open-telemetry', 'storage/etcd']]
]

const isIn = (file, place) => file === place || file.startsWith(`${place}/`)
const isInAny = (file, places) => places.some(place => isIn(file, place))
const roomOf = file => file.split('/')[0]

/** Why a file may not import a specifier, or undefined. Paths are relative to the root, without extension. */
export function complaint (from, specifier) {
  if (FREE.includes(roomOf(from))) return undefined
  if (!specifier.startsWith('.')) {
    const places = PACKAGES.find(([name]) => name.test(specifier))?.[1]
    return places === undefined || isInAny(from, places) ? undefined : `${specifier} is known to ${places.join(', ')} alone`
  }
  const to = relative(root, resolve(root, dirname(from), specifier)).replace(/\.js$/, '')
  const backEnd = Object.keys(BACK_ENDS).find(folder => isIn(to, folder))
  if (backEnd !== undefined && !isInAny(from, BACK_ENDS[backEnd])) return `${backEnd} is a back end, known to ${BACK_ENDS[backEnd].join(', ')} alone: use storage/backend.js`
  if (from.startsWith('serving/wire/') && !to.startsWith('serving/wire/')) return 'serving/wire is a lowest layer: it imports nothing of ours'
  if (roomOf(from) !== roomOf(to)) return isInAny(to, KNOWS[roomOf(from)] ?? []) ? undefined : `${roomOf(from)} may not import ${to}: see build/layers.js`
  if (roomOf(from) !== 'plugins' || from === 'plugins/server') return undefined // it declares the types of the plugins' decorators
  const folder = from.split('/').slice(0, 2).join('/')
  return SHARED.includes(to) || to.startsWith(`${folder}/`) ? undefined : 'plugins import no other plugin: they meet in decorators'
}

const layers = {
  meta: { type, schema: [] },
  create (context) {
    const from = relative(root, context.filename).replace(/\.ts$/, '')
    const check = source => {
      const message = typeof source?.value === 'string' ? complaint(from, source.value) : undefined
      if (message !== undefined) context.report({ node: source, message })
    }
    return {
      ImportDeclaration: node => { check(node.source) },
      ExportNamedDeclaration: node => { check(node.source) },
      ExportAllDeclaration: node => { check(node.source) },
      ImportExpression: node => { check(node.source) },
      TSImportType: node => { check(node.argument?.literal ?? node.source) },
      'CallExpression[callee.name="onDemand"]': node => { check(node.arguments[0]) }
    }
  }
}

export default { files: ['**/*.ts'], plugins: { orch: { rules: { layers, cycles } } }, rules: { 'orch/layers': 'error', 'orch/cycles': 'error' } }
