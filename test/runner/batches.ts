/**
 * Which test files share a process. Loading the server and tap costs nearly two seconds of CPU, and servers start
 * several times faster with optimized code: the 26 files of conformance/ take 91 s of CPU one by one and 53 s together.
 */

/**
 * Files below the folders of one line share processes; the first matching line counts. A test may run in a process in
 * which any of them ran before.
 */
const SHARED = [
  ['conformance/'],
  ['admission/'],
  ['bad-input/'],
  [
    'auth/abac', 'auth/node', 'auth/rbac', 'clients/', 'controllers/aggregation/', 'controllers/custom/',
    'flow-control/', 'properties/', 'storage/encryption/'
  ],
  ['config/', 'controllers/'],
  ['examples/', 'interop/'],
  ['host/', 'testing/'],
  ['plugins/'],
  ['files/', 'registry/', 'storage/', 'serving/'],
  ['answers/', 'routes/'],
  ['schemas/'],
  ['expressions/facts', 'expressions/libraries', 'expressions/costs', 'expressions/rules', 'releases/'],
  [
    'app.', 'documents.', 'embedding.', 'envtest.', 'event-loop/', 'lint.', 'not-implemented.', 'package.', 'runner/',
    'source-watch.', 'store-format.'
  ],
  ['cli.', 'crash.', 'local.', 'restart.']
]
/** Exceptions: they measure their process or change something of it, or take as long as others together. */
const ALONE = [
  'bad-input/large-watches', 'bad-input/many-watches', 'bad-input/watches', 'bad-input/wrong-tokens',
  'clients/egress/relay', 'controllers/garbage/many', 'interop/custom-resources', 'interop/encryption',
  'interop/kubectl.', 'routes/streamed-lists-forms', 'schemas/selectors/held',
  'serving/processes/failed-replacement', 'serving/processes/hanging-processes', 'serving/processes/killed-processes',
  'serving/processes/one-server', 'serving/processes/over-etcd', 'serving/processes/shares', 'serving/service-accounts',
  'storage/embedded/disk', 'storage/embedded/lock', 'storage/embedded/disk-space', 'storage/etcd.'
]
/** More of them would save little, and a process would end late. */
const MAX_FILES = 50
/**
 * Batches that start with these begin first, in this order: they wait most of the time, so others run beside them, and
 * none is left alone at the end.
 */
const FIRST = [
  'etcd-outage', 'serving/processes/hanging-processes', 'soak', 'serving/processes/failed-replacement', 'storage/'
]

/** Some tests of every room, in less than a minute on two cores, without etcd, kubectl or a browser. */
export const QUICK = [
  'answers/', 'admission/plugins/limit', 'admission/plugins/node', 'admission/plugins/other', 'admission/plugins/pod',
  'admission/plugins/s', 'auth/abac', 'auth/rbac', 'clients/answer-cache', 'clients/client-certificate',
  'clients/kubeconfig', 'clients/outgoing', 'clients/tls-files', 'clients/watched-files', 'config/command-line',
  'config/flags', 'config/logging', 'config/refusals', 'controllers/informer', 'controllers/work-queue',
  'controllers/services/repair',
  'documents', 'expressions/', 'files/', 'flow-control/', 'host/informer', 'lint', 'plugins/audit/policy',
  'plugins/authentication/bootstrap-token', 'plugins/authentication/index', 'plugins/authentication/service-account',
  'plugins/authentication/token-use', 'registry/apply/', 'registry/verbs/', 'registry/patch/',
  'registry/services/allocation-order', 'registry/stages/',
  'routes/discovery', 'routes/representations', 'routes/request-options', 'routes/resource', 'routes/verbs/',
  'schemas/codec/',
  'schemas/language/decode', 'schemas/selectors/fields', 'serving/http1', 'serving/listener', 'serving/tls',
  'storage/cache/', 'storage/key', 'event-loop/turns',
  'testing/clock'
]

/** Environment variable that names the files to run together. */
export const FILES = 'ORCH_TEST_FILES'
/** Precedes the name of each file in the output of several. */
export const MARK = 'test file: '
/** Precedes the seconds of CPU that a file took, and its name. */
export const COST = 'seconds of CPU: '

export interface Batch {
  readonly title: string
  readonly files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Tests of what is written, by way of which the default admission plugins could help a rule of the interface: these run
 * with and without them. Reads, watches, documents and connections pass no plugin, and the life of an object of every
 * kind is in `every-resource`.
 */
const WRITES =
  /^dist\/test\/conformance\/(?:binding-fields|deletion|dry-run|errors|every-resource|findings|metadata|operations|pod-deletion)\.test\.js$/

/**
 * Files that may share a process together, all others alone. Tests of writes run twice. The largest begin first, so
 * that none of them is left alone at the end.
 */
export function batchesOf (files: readonly string[]): Batch[] {
  const turn = ({ files: [file] }: Batch): number =>
    [...FIRST, ''].findIndex(place => file?.startsWith(`dist/test/${place}`))
  return [
    ...grouped(files.filter(file => WRITES.test(file))).map(batch => ({
      title: `${titleOf(batch)} without admission plugins`, files: batch, env: { ORCH_TEST_ADMISSION: 'none' }
    })),
    ...grouped(files).map(batch => ({ title: titleOf(batch), files: batch, env: {} }))
  ].sort((one, other) => turn(one) - turn(other) || other.files.length - one.files.length)
}

const titleOf = (files: readonly string[]): string =>
  files.length === 1 ? files.join() : `${files.length} files, ${files[0]} to ${files.at(-1)},`

function grouped (files: readonly string[]): string[][] {
  const batches: string[][] = []
  const open = new Map<unknown, string[]>()
  for (const file of files) {
    const isBelow = (place: string): boolean => file.startsWith(`dist/test/${place}`)
    const line = ALONE.some(isBelow) ? undefined : SHARED.find(folders => folders.some(isBelow))
    const batch = open.get(line)
    if (line !== undefined && batch !== undefined && batch.length < MAX_FILES) {
      batch.push(file)
      continue
    }
    const begun = [file]
    batches.push(begun)
    if (line !== undefined) open.set(line, begun)
  }
  return batches
}

/** The files of a batch that asserted nothing: they have tested nothing. */
export function silentOf (files: readonly string[], output: string): string[] {
  const parts = new Map(output.split(`# ${MARK}`).slice(1).map(part => [part.slice(0, part.indexOf('\n')), part]))
  return files.filter(file => !/^\s*(?:not )?ok \d/m.test(parts.get(file) ?? ''))
}
