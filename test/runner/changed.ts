/** The test files that a change may break: those that import a changed file, directly or not. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const IMPORTS = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)\.js'/g
/** Files that everything depends on: changing one runs all tests. */
const OF_ALL = /^(?:build\/|(?:test\/)?(?:package(?:-lock)?|tsconfig)\.json$|eslint\.config\.js$)/

const git = (root: string, ...args: string[]): string[] => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(line => line !== '')

/** Files that differ from the last commit, or are new. */
export function changedFiles (root: string): string[] {
  return [...git(root, 'diff', '--name-only', 'HEAD'), ...git(root, 'ls-files', '--others', '--exclude-standard')]
}

/** Every module and test, by path relative to the root, with what it imports. */
export function importGraph (root: string): ReadonlyMap<string, readonly string[]> {
  const files = git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '*.ts').filter(file => existsSync(join(root, file)))
  return new Map(files.map(file => [file, [...readFileSync(join(root, file), 'utf8').matchAll(IMPORTS)].map(([, path = '']) => `${posix.join(posix.dirname(file), path)}.ts`)]))
}

/** Tests, as paths of sources, that a change of `changed` may break. */
export function testsOf (changed: readonly string[], graph: ReadonlyMap<string, readonly string[]>): string[] {
  const isTest = (file: string): boolean => file.endsWith('.test.ts')
  if (changed.some(file => OF_ALL.test(file))) return [...graph.keys()].filter(isTest)
  const importers = new Map<string, string[]>()
  for (const [file, paths] of graph) for (const path of paths) importers.set(path, [...importers.get(path) ?? [], file])
  const affected = new Set(changed)
  for (const file of affected) for (const importer of importers.get(file) ?? []) affected.add(importer) // a set also visits elements that are added meanwhile
  if (changed.some(file => file.endsWith('.md'))) affected.add('test/documents.test.ts')
  if (changed.includes('README.md')) affected.add('test/readme.test.ts')
  return [...affected].filter(isTest)
}
