/** The test files that a change may break: those that import a changed file, directly or not. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const IMPORTS = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)\.js'/g
/** Files that everything depends on: changing one runs all tests. */
const OF_ALL = /^(?:build\/|(?:test\/)?(?:package(?:-lock)?|tsconfig)\.json$)/

/** Tests that read documents. */
const DOCUMENTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\.md$/, 'test/documents.test.ts'], [/^README\.md$/, 'test/readme.test.ts']
]

const git = (root: string, ...args: string[]): string[] =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(line => line !== '')

/** Files that differ from the last commit, or are new. */
export function changedFiles (root: string): string[] {
  return [...git(root, 'diff', '--name-only', 'HEAD'), ...git(root, 'ls-files', '--others', '--exclude-standard')]
}

/** Every module and test, by path relative to the root, with what it imports. */
export function importGraph (root: string): ReadonlyMap<string, readonly string[]> {
  const files = git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '*.ts')
    .filter(file => existsSync(join(root, file)))
  return new Map(files.map(file => [
    file,
    [...readFileSync(join(root, file), 'utf8').matchAll(IMPORTS)].map(([, path = '']) =>
      `${posix.join(posix.dirname(file), path)}.ts`)
  ]))
}

/**
 * Tests, as paths of sources, that a change of `changed` may break, by the number of imports between: first the changed
 * tests, then those that import a changed file, and so on.
 */
export function testsOf (changed: readonly string[], graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const isTest = (file: string): boolean => file.endsWith('.test.ts')
  if (changed.some(file => OF_ALL.test(file))) return [[...graph.keys()].filter(isTest)]
  const importers = new Map<string, string[]>()
  for (const [file, paths] of graph) for (const path of paths) importers.set(path, [...importers.get(path) ?? [], file])
  const first = [
    ...changed, ...DOCUMENTS.flatMap(([pattern, test]) => changed.some(file => pattern.test(file)) ? [test] : [])
  ]
  const met = new Set<string>()
  const waves: string[][] = []
  for (let wave = [...new Set(first)]; wave.length > 0;) {
    for (const file of wave) met.add(file)
    waves.push(wave.filter(isTest))
    wave = [...new Set(wave.flatMap(file => importers.get(file) ?? []))].filter(file => !met.has(file))
  }
  return waves.filter(wave => wave.length > 0)
}
