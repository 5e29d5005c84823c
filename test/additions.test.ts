/**
 * The cost of an addition: a resource, an admission plugin, an authenticator and a back end are added to a copy of the
 * product, and used.
 */
import t from 'tap'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

interface Addition {
  /** New files with their text. */
  readonly files: Readonly<Record<string, string>>
  /** Replacements in existing files. */
  readonly edits: ReadonlyArray<readonly [file: string, text: string, replacement: string]>
  /** Lines of existing files that an edit may change. */
  readonly lines: number
}

const ADDITIONS: Readonly<Record<string, Addition>> = {
  'a resource': {
    files: {
      'schemas/api/errands/errands.ts': `import { apiPackage, one, string } from '../../language/declare.js'
import type { Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { resource } from '../../resource.js'

const { message, kind } = apiPackage('errands.orch.io', 'v2alpha1', 'io.orch.api.errands.v2alpha1')

export const ErrandSpec = message('ErrandSpec', 'What is to be done.', {
  task: string(1, 'What to do.', { required: true })
})
export type Errand = Static<typeof Errand>
export const Errand = kind('Errand', 'Something to be done.', { metadata, spec: one(2, 'What is wanted.', ErrandSpec) })

export const errands = resource(Errand, { plural: 'errands', namespaced: true })
`
    },
    edits: [
      [
        'schemas/resources.ts', 'import { jobs }', "import { errands } from './api/errands/errands.js'\nimport { jobs }"
      ],
      ['schemas/resources.ts', '  cronJobs, jobs,', '  cronJobs, jobs, errands,']
    ],
    lines: 2
  },
  'an admission plugin': {
    files: {
      'admission/plugins/no-friday.ts': `import type { AdmissionPlugin } from '../../registry/admission.js'
import { StatusError } from '../../schemas/status.js'

export const noFriday: AdmissionPlugin = {
  name: 'NoFriday',
  handles: [{ operations: ['CREATE'], groups: ['errands.orch.io'], resources: ['errands'] }],
  validate: ({ name }) => { if (name === 'friday') throw new StatusError('Forbidden', 'not on a Friday') }
}
`
    },
    edits: [
      [
        'admission/catalogue.ts', "  off('AlwaysDeny'",
        "  on('NoFriday', async () => (await import('./plugins/no-friday.js')).noFriday),\n  off('AlwaysDeny'"
      ]
    ],
    lines: 1
  },
  'an authenticator': {
    files: {
      'plugins/authentication/badge.ts': `import type { Authenticator } from '../../auth/authenticator.js'

export const badgeAuthenticator: Authenticator = {
  name: 'badge',
  authenticate: ({ headers }) => typeof headers['x-badge'] === 'string'
    ? { username: headers['x-badge'], uid: '', groups: ['badges'], extra: {} }
    : undefined
}
`
    },
    edits: [
      [
        'plugins/authentication/methods.ts', 'import { bootstrapTokenAuthenticator }',
        "import { badgeAuthenticator } from './badge.js'\nimport { bootstrapTokenAuthenticator }"
      ],
      [
        'plugins/authentication/methods.ts', "  { name: 'token-file'",
        "  { name: 'badge', make: () => badgeAuthenticator },\n  { name: 'token-file'"
      ]
    ],
    lines: 2
  },
  'a back end': {
    files: {
      'storage/noted/backend.ts': `import type { Backend } from '../backend.js'
import { openMemory } from '../embedded/memory.js'

const OTHERS = [
  'get', 'list', 'count', 'update', 'delete', 'watch', 'compact', 'compactedRevision', 'revision', 'revisionNow',
  'status', 'lease', 'close'
] as const

export async function openNoted (notes: string[]): Promise<Backend> {
  const memory = await openMemory()
  return Object.assign(Object.create(memory) as Backend, {
    name: 'noted',
    ...Object.fromEntries(
      OTHERS.map(name => [name, (memory[name] as (...args: never[]) => unknown).bind(memory)])
    ),
    create: (key, value, options) => {
      notes.push(key)
      return memory.create(key, value, options)
    }
  } satisfies Partial<Backend>)
}
`
    },
    edits: [
      [
        'storage/open.ts', "  | { readonly kind?: 'memory' }",
        "  | { readonly kind?: 'memory' }\n  | { readonly kind: 'noted', readonly notes: string[] }"
      ],
      [
        'storage/open.ts', '  memory: async',
        "  noted: async options => (await import('./noted/backend.js')).openNoted(options.notes),\n  memory: async"
      ]
    ],
    lines: 2
  }
}

/** As docs/architecture.md says that a field of the next release would be added. */
const OF_THE_NEXT: Addition = {
  files: {
    'schemas/gates-1.37.ts': `import { GATES_OF_1_36, type Gate } from './gates-1.36.js'

export const GATES_OF_1_37: ReadonlyMap<string, Gate> =
  new Map([...GATES_OF_1_36, ['ColouredConfigMaps', { stage: 'Beta', default: true }]])
`
  },
  edits: [
    ['schemas/meta/release.ts', "[RELEASE_NAME, '1.36'] as const", "[RELEASE_NAME, '1.36', '1.37'] as const"],
    [
      'schemas/meta/release.ts', "1.36: ['1.34', '1.35', '1.36'] }",
      "1.36: ['1.34', '1.35', '1.36'], 1.37: ['1.35', '1.36', '1.37'] }"
    ],
    ['schemas/gates.ts', 'import { GATES_CAME', "import { GATES_OF_1_37 } from './gates-1.37.js'\nimport { GATES_CAME"],
    ['schemas/gates.ts', '1.36: GATES_OF_1_36 }', '1.36: GATES_OF_1_36, 1.37: GATES_OF_1_37 }'],
    ['schemas/api/core/configmaps.ts', 'map, type Static', 'map, string, type Static'],
    [
      'schemas/api/core/configmaps.ts',
      '  immutable: immutableFlag(4),',
      '  immutable: immutableFlag(4),\n' +
      "  colour: string(5, 'The colour.', { since: '1.37', gate: 'ColouredConfigMaps' }),"
    ],
    [
      'schemas/api/core/configmaps.ts', '    let size = 0',
      "    let size = 0\n    if (config.colour === 'none') invalid(report, 'colour', config.colour, 'must be a colour')"
    ]
  ],
  lines: 7
}

const WITH_THE_NEXT = `
import Fastify from 'fastify'
import orch from './dist/app.js'
import { openMemory } from './dist/storage/embedded/memory.js'
const store = await openMemory()
const methods = [
  'get', 'list', 'count', 'create', 'update', 'delete', 'watch', 'compact', 'compactedRevision', 'revision',
  'revisionNow', 'status', 'lease'
]
const view = () => {
  const bound = methods.map(name => ({ [name]: store[name].bind(store) }))
  return Object.assign({ name: store.name, close: async () => {} }, ...bound)
}
const url = '/api/v1/namespaces/default/configmaps'
const served = async (emulatedVersion, featureGates = {}) => {
  const fastify = Fastify()
  await fastify.register(orch, { storage: view(), emulatedVersion, featureGates })
  const ask = async (method, path, body) => {
    const sent = { headers: { 'content-type': 'application/json' }, payload: JSON.stringify(body) }
    const { statusCode, headers, body: text } = await fastify.inject({
      method, url: path, ...body === undefined ? {} : sent
    })
    const warned = /unknown field .*colour/.test(headers.warning ?? '')
    return { code: statusCode, colour: JSON.parse(text).colour ?? '', warned }
  }
  return ask
}
const map = (name, more) => ({ metadata: { name }, ...more })
const next = await served('1.37')
const off = await served('1.37', { ColouredConfigMaps: false })
const before = await served('1.36')
const first = await served('1.24')
const said = {
  made: await next('POST', url, map('a', { colour: 'red' })),
  invalid: (await next('POST', url, map('b', { colour: 'none' }))).code,
  off: await off('POST', url, map('c', { colour: 'red' })),
  before: await before('POST', url, map('d', { colour: 'red' })),
  first: await first('POST', url, map('e', { colour: 'red' })),
  strict: (await before('POST', url + '?fieldValidation=Strict', map('f', { colour: 'red' }))).code,
  read: await before('GET', url + '/a'),
  kept: await first('PUT', url + '/a', map('a', { colour: 'red', data: { x: 'y' } })),
  after: await next('GET', url + '/a')
}
process.stdout.write(JSON.stringify(said))
process.exit(0)
`

const PROGRAM = `
import Fastify from 'fastify'
import orch from './dist/app.js'
import { disabledApis } from './dist/config/runtime-config.js'
import { infoOfPath } from './dist/plugins/request-info/paths.js'
const notes = []
const summary = answer => answer.statusCode < 300 ? answer.statusCode : answer.statusCode + ' ' + answer.json().message
const fastify = Fastify()
await fastify.register(orch, {
  storage: { kind: 'noted', notes }, api: { disabled: [] }, authentication: { anonymous: false }
})
const headers = { 'x-badge': 'ann', 'content-type': 'application/json' }
const version = '/apis/errands.orch.io/v2alpha1'
const url = version + '/namespaces/default/errands'
const create = async name => {
  const payload = JSON.stringify({ metadata: { name }, spec: { task: 'milk' } })
  return summary(await fastify.inject({ method: 'POST', url, headers, payload }))
}
const nobody = (await fastify.inject(url)).statusCode
const codes = [await create('monday'), await create('friday'), nobody]
const { items } = (await fastify.inject({ url, headers })).json()
const { resources } = (await fastify.inject({ url: version, headers })).json()
const discovered = resources.map(({ name }) => name)
const off = Fastify()
await off.register(orch)
const hidden = (await off.inject(version)).statusCode
const enabled = new Map([['errands.orch.io/v2alpha1', 'true']])
const disabled = disabledApis(enabled, undefined).some(api => api.startsWith('errands'))
const path = url + '/one/two/three'
const { isResourceRequest: deep } = infoOfPath({ method: 'GET', path, query: '' })
const registered = '/apis/apiregistration.orch.io/v1/apiservices/v2alpha1.errands.orch.io'
let service = await fastify.inject({ url: registered, headers })
while (service.statusCode === 404) service = await fastify.inject({ url: registered, headers })
const { 'kube-aggregator.orch.io/automanaged': managed } = service.json().metadata.labels
const tasks = items.map(({ spec }) => spec.task)
const noted = notes.some(key => key.includes('monday'))
process.stdout.write(JSON.stringify({ codes, tasks, discovered, noted, hidden, disabled, deep, managed }))
process.exit(0)
`

t.test('each is a file of its own and a line or two where the others are listed', async t => {
  const copy = mkdtempSync(join(tmpdir(), 'orch-additions-'))
  t.teardown(() => { rmSync(copy, { recursive: true, force: true }) })
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', 'package.json', 'tsconfig.json', '*.proto'],
    { cwd: root, encoding: 'utf8' }
  )
    .trim()
    .split('\n')
  for (const file of files.filter(file => !/^(?:test|examples|build)\//.test(file))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const [what, { files, edits, lines }] of Object.entries({
    ...ADDITIONS, 'a field of the next release': OF_THE_NEXT
  })) {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(copy, file)), { recursive: true })
      writeFileSync(join(copy, file), text)
    }
    let changed = 0
    for (const [file, text, replacement] of edits) {
      const before = readFileSync(join(copy, file), 'utf8')
      if (!t.ok(before.includes(text), `${file} has ${text}`)) continue
      const after = before.replace(text, () => replacement)
      const old = new Set(before.split('\n'))
      changed += after.split('\n').filter(line => !old.has(line)).length
      writeFileSync(join(copy, file), after)
    }
    t.equal(Object.keys(files).length, 1, `${what} is one file`)
    t.equal(changed, lines, `and changes ${lines} lines elsewhere`)
  }
  const config = JSON.parse(readFileSync(join(copy, 'tsconfig.json'), 'utf8')) as { include: string[] }
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ ...config, include: config.include.filter(name => !['examples', 'build'].includes(name)) })
  )
  const tsc = join(root, 'node_modules/typescript-native/bin/tsc')
  // As build/compile.js runs it, without what nobody reads here.
  const built = await run(
    process.execPath,
    [tsc, '-p', copy, '--checkers', '2', '--declaration', 'false', '--sourceMap', 'false', '--incremental', 'false'],
    { env: { ...process.env, GOGC: 'off' } }
  ).catch((error: unknown) => error as { stdout: string })
  t.equal(built.stdout, '', 'it is built')
  writeFileSync(join(copy, 'program.js'), PROGRAM)
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: copy })
  t.same(JSON.parse(stdout), {
    codes: [201, '403 not on a Friday', 401],
    tasks: ['milk'],
    discovered: ['errands'],
    noted: true,
    hidden: 404,
    disabled: false,
    deep: false,
    managed: 'onstart'
  })
  writeFileSync(join(copy, 'next.js'), WITH_THE_NEXT)
  const next = JSON.parse((await run(process.execPath, ['next.js'], { cwd: copy })).stdout) as unknown
  const red = { colour: 'red', warned: false }
  t.same(next, {
    made: { code: 201, ...red },
    invalid: 422,
    off: { code: 201, colour: '', warned: false },
    before: { code: 201, colour: '', warned: true },
    first: { code: 201, colour: '', warned: true },
    strict: 400,
    read: { code: 200, ...red },
    kept: { code: 200, ...red },
    after: { code: 200, ...red }
  }, 'earlier releases do not know the field, and keep what is stored')
})
