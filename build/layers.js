// Import rules: the layers of docs/architecture.md. Imports between folders are denied unless listed, for new folders
// and files too. test/lint.test.ts covers each line.
import { dirname, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** Modules of plugins/ that `config/` may import: plugin options and parsers for flags. */
const PLUGIN_OPTIONS =
  ['audit', 'authentication', 'authorization', 'connections', 'storage', 'registry', 'metrics', 'profiling', 'tracing']
    .map(name => `plugins/${name}/index`)
    .concat(
      ['egress', 'health', 'request-log', 'security-headers', 'shutdown', 'stalled-requests'].map(name =>
    `plugins/${name}`),
      ['token-file', 'request-header', 'webhook', 'service-account/keys', 'oidc/index', 'oidc/configured'].map(name =>
    `plugins/authentication/${name}`),
      ['plugins/authorization/webhook', 'plugins/authorization/configured', 'plugins/admission/outbound'])

/** The folders up to one, in ascending order. */
const UP_TO_STORAGE = ['schemas', 'expressions', 'event-loop', 'storage']
const UP_TO_AUTH = [...UP_TO_STORAGE, 'auth']
const UP_TO_REGISTRY = [...UP_TO_AUTH, 'flow-control', 'registry']
const UP_TO_ADMISSION = [...UP_TO_REGISTRY, 'admission']
const UP_TO_CONTROLLERS = [...UP_TO_ADMISSION, 'controllers']
/** What each folder may import. */
const MAY_IMPORT = {
  files: [],
  schemas: ['expressions'],
  // schemas have rules of their own, so only what knows nothing of types
  expressions: [
    'schemas/meta', 'schemas/steps', 'schemas/names', 'schemas/api/apiextensions/patterns',
    'schemas/api/apiextensions/rules/formats'
  ],
  'event-loop': ['schemas'],
  // clients/ is as low as storage/ and knows nothing of it; a key service is called by gRPC, as a signer of tokens is
  storage: ['schemas', 'event-loop', 'files', 'clients/socket-calls'],
  auth: UP_TO_STORAGE,
  'flow-control': UP_TO_AUTH,
  registry: UP_TO_AUTH,
  admission: UP_TO_REGISTRY,
  controllers: UP_TO_ADMISSION,
  answers: [...UP_TO_REGISTRY, 'serving/wire'],
  routes: [...UP_TO_REGISTRY, 'answers', 'plugins/shared/plugin', 'serving/wire'], // they are a plugin too
  plugins: [...UP_TO_CONTROLLERS, 'answers', 'clients', 'files', 'serving/wire'],
  clients: ['schemas'],
  host: [
    ...UP_TO_CONTROLLERS, 'answers', 'routes/verb-tables', 'plugins/errors', 'plugins/request-info',
    'plugins/shared/plugin', 'plugins/storage-version-barrier'
  ],
  config: [...UP_TO_CONTROLLERS, 'clients', 'files', ...PLUGIN_OPTIONS],
  serving: [
    'config', 'clients/watched-files', 'plugins/metrics/merged', 'plugins/metrics/process', 'plugins/stalled-requests',
    'plugins/shared/plugin', 'files', 'storage/open', 'event-loop', 'auth/authorities', 'auth/new-key', 'schemas/limits'
  ],
  // the last three for `orch-apiserver dev`
  testing: [
    'app', 'host', ...UP_TO_REGISTRY, 'answers', 'plugins/shared/plugin', 'routes/deprecation', 'serving/certify',
    'config/command-line', 'config/commands/dev', 'config/flag', 'config/suggestions'
  ],
  app: [
    'config/checks/index', 'config/option', 'config/server-options', 'host', 'plugins',
    'routes', ...UP_TO_REGISTRY
  ],
  build: [], // bin.ts loads the bundle of cli.ts
  cli: ['app', 'config', 'serving/start', 'serving/processes', 'storage/cache/shared', 'testing/dev']
}
/** Libraries in a folder: the rest of it calls them, and they know nothing of it. */
const LIBRARIES = ['registry/apply', 'registry/patch']
/** Exempt from the rules. */
const EXEMPT = ['test', 'examples']

/** Modules that may import each back end. */
const BACK_ENDS = {
  'storage/etcd': ['storage/etcd', 'storage/open', 'storage/transfer/open'],
  'storage/shared': ['storage/shared', 'storage/open'],
  'storage/embedded': [
    'storage/embedded', 'storage/open', 'storage/transfer/open', 'config/fsck', 'config/commands/recover'
  ]
}

/** Modules that know the public project's names; others take a view of them, a Naming. */
const PUBLIC_NAMES = [
  'schemas/compat', 'config/public-settings', 'plugins/shared/client-names', 'plugins/shared/outside',
  'routes/misnamed'
]

/** Packages restricted to certain modules. */
const PACKAGES = [
  [/^@?fastify/, [
    'answers', 'app', 'host', 'testing', 'serving/root', 'serving/running', 'serving/start',
    'serving/processes/store-process', 'serving/processes/supervisor', 'serving/uncaught-errors', 'plugins', 'routes',
    'config/logging'
  ]],
  [/^etcd3(?:\/|$)/, ['storage/etcd']],
  [/^protobufjs(?:\/|$)/, [
    'clients/egress', 'storage/etcd', 'storage/encryption', 'schemas/openapi', 'plugins/authentication/service-account'
  ]],
  [/^@sinclair\/typebox(?:\/|$)/, ['schemas/language']],
  [/^lmdb$/, ['storage/embedded']],
  [/^commander$/, ['config/command-line']],
  [/^pino$/, ['config/logging']],
  [/^undici$/, ['clients']],
  [/^jose(?:\/|$)/, ['plugins/authentication']],
  [/^@opentelemetry\//, ['plugins/tracing/open-telemetry']],
  [/^@grpc\//, ['clients/egress', 'clients/socket-calls', 'plugins/tracing/open-telemetry', 'storage/etcd']],
  [/^@noble\//, ['storage/encryption/cipher']]
]

const isIn = (file, place) => file === place || file.startsWith(`${place}/`)
const isInAny = (file, places) => places.some(place => isIn(file, place))
const folderOf = file => file.split('/')[0]

/** Why a file may not import a specifier, or undefined. Paths are relative to the root, without extension. */
export function violation (from, specifier) {
  if (EXEMPT.includes(folderOf(from))) return undefined
  if (!specifier.startsWith('.')) {
    const places = PACKAGES.find(([name]) => name.test(specifier))?.[1]
    return places === undefined || isInAny(from, places)
      ? undefined
      : `${specifier} may be imported only by ${places.join(', ')}`
  }
  const to = relative(root, resolve(root, dirname(from), specifier)).replace(/\.js$/, '')
  const backEnd = Object.keys(BACK_ENDS).find(folder => isIn(to, folder))
  if (backEnd !== undefined && !isInAny(from, BACK_ENDS[backEnd])) {
    return `${backEnd} is a back end, which only ${BACK_ENDS[backEnd].join(', ')} may import: use storage/backend.js`
  }
  if (isIn(to, 'schemas/compat') && !isInAny(from, PUBLIC_NAMES)) {
    return `only ${PUBLIC_NAMES.join(', ')} may import ${to}: use schemas/naming.js`
  }
  if (from.startsWith('serving/wire/') && !to.startsWith('serving/wire/')) {
    return 'serving/wire is a lowest layer: it may import no other folder'
  }
  if (folderOf(from) !== folderOf(to)) {
    return isInAny(to, MAY_IMPORT[folderOf(from)] ?? [])
      ? undefined
      : `${folderOf(from)} may not import ${to}: see build/layers.js`
  }
  const library = LIBRARIES.find(folder => isIn(from, folder))
  if (library !== undefined && !isIn(to, library)) {
    return `${library} is a library: it may import nothing else of ${folderOf(from)}`
  }
  // it declares the types of the plugins' decorators
  if (folderOf(from) !== 'plugins' || from === 'plugins/shared/server') return undefined
  const plugin = from.split('/').slice(0, 2).join('/')
  return isIn(to, 'plugins/shared') || to.startsWith(`${plugin}/`)
    ? undefined
    : 'plugins import no other plugin: they meet in decorators'
}

export const layers = {
  meta: { type: 'problem', schema: [] },
  create (context) {
    const from = relative(root, context.filename).replace(/\.ts$/, '')
    const check = source => {
      const message = typeof source?.value === 'string' ? violation(from, source.value) : undefined
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
