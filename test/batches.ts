/**
 * Which test files share a process. Loading the server and tap costs nearly a second of CPU, and servers start several times
 * faster where their code is optimized already: the 26 files of conformance/ take 91 s of CPU one by one and 53 s together.
 */

/** Below these, files measure no process and change nothing of their own. */
const SHARED = [
  'clients/', 'config/', 'conformance/', 'plugins/', 'routes/', 'schemas/',
  'admission/', 'storage/cache/', 'controllers/', 'storage/etcd/', 'flow-control/', 'registry/apply/', 'registry/operations/', 'registry/patch/'
]
const MAX_FILES = 9

/** A part of every room in less than a minute on two cores, without etcd, kubectl or a browser. */
export const QUICK = [
  'admission/plugins/', 'auth/', 'clients/', 'config/command-line', 'config/flags', 'config/logging', 'config/refusals', 'controllers/informer', 'controllers/work-queue', 'controllers/services/',
  'documents', 'flow-control/', 'lint', 'plugins/audit/', 'plugins/authentication/', 'registry/apply/', 'registry/operations/', 'registry/patch/', 'registry/services/allocation-order',
  'routes/discovery', 'routes/representations', 'routes/request-options', 'routes/resource', 'schemas/codec/', 'schemas/language/decode', 'schemas/selectors/fields', 'serving/http1', 'serving/listener', 'serving/tls', 'storage/cache/', 'storage/key', 'storage/turns'
]

/** Variable of the environment that names the files to run together. */
export const FILES = 'ORCH_TEST_FILES'
/** Stands before the name of a file in the output of several. */
export const MARK = 'test file: '

export interface Batch { readonly title: string, readonly files: readonly string[], readonly env: Readonly<Record<string, string>> }

/** In order; those of one folder of the above together, all others alone. What holds of the interface holds without admission plugins too. */
export function batchesOf (files: readonly string[]): Batch[] {
  return [
    ...grouped(files).map(batch => ({ title: titleOf(batch), files: batch, env: {} })),
    ...grouped(files.filter(file => file.startsWith('dist/test/conformance/'))).map(batch => ({ title: `${titleOf(batch)} without admission plugins`, files: batch, env: { ORCH_TEST_ADMISSION: 'none' } }))
  ]
}

const titleOf = (files: readonly string[]): string => files.length === 1 ? files.join() : `${files.length} files, ${files[0]} to ${files.at(-1)},`

function grouped (files: readonly string[]): string[][] {
  const batches: string[][] = []
  let last = ''
  for (const file of files) {
    const folder = SHARED.find(one => file.startsWith(`dist/test/${one}`)) ?? file
    const batch = batches.at(-1)
    if (batch !== undefined && folder === last && batch.length < MAX_FILES) batch.push(file)
    else batches.push([file])
    last = folder
  }
  return batches
}

/** The files of a batch that asserted nothing, which is no test. */
export function silentOf (files: readonly string[], output: string): string[] {
  if (files.length === 1) return /^\s*(?:not )?ok \d/m.test(output) ? [] : [...files]
  const parts = new Map(output.split(`# ${MARK}`).slice(1).map(part => [part.slice(0, part.indexOf('\n')), part]))
  return files.filter(file => !/^\s*(?:not )?ok \d/m.test(parts.get(file) ?? ''))
}
