/** What documents mention exists: files, folders, links and flags. */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COMMAND_FLAGS } from '../config/commands/stores.js'
import { DEV_FLAGS } from '../config/commands/dev.js'
import { ABSENT } from '../config/flags/absent.js'
import { FLAGS } from '../config/flags/index.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const files = new Set(execFileSync(
  'git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }
)
  .trim()
  .split('\n'))
const folders = new Set([...files].flatMap(file =>
  file.split('/').slice(0, -1).map((_, at, parts) => `${parts.slice(0, at + 1).join('/')}/`)))
const topFolders = new Set([...folders].map(folder => folder.split('/')[0]))
/** The history of releases keeps what was true of a release. */
const documents = [...files].filter(file => file.endsWith('.md') && file !== 'CHANGELOG.md')

const EXTENSIONS = /\.(?:ts|js|cjs|md|json|proto|ya?ml|sh|service)$/
/** Created by the build, by npm, or by a running server. */
const MADE =
  /^(?:dist|(?:test\/)?node_modules|\.cache|orch-data)\b|^(?:cli|open-telemetry)\.cjs$|^(?:package|certs|kubeconfig|config|policy|tracing|audit-policy|history)\.(?:json|ya?ml)$/
/** Flags of other programs, and of our own scripts. */
const FOREIGN = new Set([
  '--cascade', // of kubectl
  '--experimental-vm-modules', '--packages', '--external', '--prefix', // of Jest, esbuild and fastify-cli
  // of a cluster's other programs
  '--authentication-kubeconfig', '--authorization-kubeconfig', '--bootstrap-kubeconfig', '--cluster-signing-cert-file',
  '--cluster-signing-key-file', '--controllers', '--kubelet-certificate-authority', '--kubelet-client-certificate',
  '--kubelet-client-key', '--kubelet-preferred-address-types', '--kubelet-timeout', '--leader-elect', '--root-ca-file',
  '--service-account-private-key-file', '--use-service-account-credentials',
  '--controller-manager', '--controller-manager-image', '--scheduler',
  '--unix-socket', '--as', '--list', '--time', '--cluster', '--cascade', '--force-new-cluster', '--inspect',
  '--inspect-brk', '--enable-source-maps', '--changed', '--coverage', '--help', '--version', '--min-semi-space-size',
  '--max-semi-space-size', '--no-allocation-site-pretenuring', '--trace-gc', '--dry-run', '--raw', '--watch',
  '--max-request-bytes', '--quota-backend-bytes', '--client-cert-auth', '--max-inlined-bytecode-size-cumulative',
  '--kubeconfig', '--balancer', '--format'
])

const spans = (text: string): string[] =>
  [...text.replace(/^```[^]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
const links = (text: string): string[] => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) =>
  link).filter(link => !/^(?:https?:|#|mailto:)/.test(link))

/** A file or folder below the root, beside the document, or in a folder below that. */
function isThere (path: string, document: string): boolean {
  const beside = posix.dirname(document)
  const places = [path, posix.join(beside, path)]
  if (places.some(place => files.has(place) || folders.has(place) || folders.has(`${place}/`))) return true
  const [kind, end] = path.endsWith('/') ? [folders, `/${path}`] : [files, `/${path}`]
  for (const one of kind) {
    if (one.endsWith(end) && (beside === '.' || beside === 'docs' || one.startsWith(`${beside}/`))) return true
  }
  return false
}

const isPath = (span: string): boolean => /^[\w@.-][\w@./-]*$/.test(span) && !MADE.test(span) &&
  (EXTENSIONS.test(span) || (span.includes('/') && topFolders.has(span.split('/')[0]) && !/[A-Z]{2}/.test(span)))

t.test('files and folders', async t => {
  for (const document of documents) {
    const text = readFileSync(`${root}${document}`, 'utf8')
    const missing = [
      ...spans(text).filter(isPath).filter(path => !isThere(path, document)),
      ...links(text).map(link => link.replace(/#.*$/, '')).filter(link => !isThere(link, document))
    ]
    t.strictSame(missing, [], document)
  }
  t.notOk(isThere('storage/no-such-file.ts', 'docs/architecture.md'), 'a missing path is reported')
})

t.test('the README of a room names each of its files and folders', async t => {
  for (const document of documents.filter(file => /^[^/]+\/README\.md$/.test(file))) {
    const room = posix.dirname(document)
    if (['docs', 'examples', 'test'].includes(room)) continue // their READMEs explain how to use them
    const named = new Set(spans(readFileSync(`${root}${document}`, 'utf8')))
    const inRoom = [...files, ...folders].filter(path =>
      path !== document && path.startsWith(`${room}/`)).map(path => path.slice(room.length + 1))
    t.strictSame(inRoom.filter(path => /^[^/]+\/?$/.test(path) && !named.has(path)), [], document)
  }
})

t.test('no cell of a table is longer than 40 words', t => {
  const words = (cell: string): number => cell.trim().split(/\s+/).length
  for (const document of documents) {
    const rows = readFileSync(`${root}${document}`, 'utf8').split('\n').filter(line => line.startsWith('|'))
    t.strictSame(rows.flatMap(row => row.split('|')).filter(cell => words(cell) > 40), [], document)
  }
  t.end()
})

t.test('lines of docs/performance.md fold at 120 columns, but for tables', t => {
  const long = readFileSync(`${root}docs/performance.md`, 'utf8').split('\n')
    .filter(line => line.length > 120 && !line.startsWith('|'))
  t.strictSame(long, [])
  t.end()
})

t.test('comments name benchmarks in one form: a part of the benchmarks and a row of docs/performance.md that it ' +
  'measures', t => {
  const [, keeper = ''] = readFileSync(`${root}docs/performance.md`, 'utf8').split('## For its keeper')
  const rows = new Map(keeper.split('\n## ')[0]
    ?.split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => {
      const [, work = '', part = ''] = line.split('|').map(cell => cell.trim())
      return [work.replaceAll('`', ''), part]
    }))
  let named = 0
  for (const file of files) {
    if (!file.endsWith('.ts') || file.startsWith('test/')) continue
    const text = readFileSync(`${root}${file}`, 'utf8').replaceAll(/\n *(?:\*|\/\/) /g, ' ') // a comment on one line
    for (const [, said = ''] of text.matchAll(/((?:Benchmark: `)?npm run bench.*)/g)) {
      named++
      const [, part = '', row = ''] = /^Benchmark: `npm run bench -- ([\w-]+)`, '(.+?)'[.,:]/.exec(said) ?? []
      t.equal(rows.get(row), `\`${part}\``, `${file}: ${said.slice(0, 120)}`)
    }
  }
  t.ok(named > 10, 'benchmarks are found')
  t.end()
})

t.test('flags', async t => {
  const known = new Set(Object.keys({ ...FLAGS, ...COMMAND_FLAGS, ...DEV_FLAGS, ...ABSENT }).map(name => `--${name}`))
  for (const document of documents) {
    const mentioned = spans(readFileSync(`${root}${document}`, 'utf8')).flatMap(span =>
      [...span.matchAll(/(?<![\w-])--[a-z][\w-]*[a-z\d](?![\w-])/g)].map(([flag]) => flag))
    t.strictSame([...new Set(mentioned)].filter(flag => !known.has(flag) && !FOREIGN.has(flag)), [], document)
  }
})
