// The linter, which also formats: oxlint, with the rules of build/oxlint.json on everything, and with those of
// build/style.json, which are JavaScript and take most of the time, on what has changed since it passed. Arguments:
// --fix, and files; default all.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testFolder } from './test-packages.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const PASSED = join(root, '.cache/lint.json')
const OF_STYLE = [
  'build/style.json', 'build/lint-rules.js', 'build/layers.js', 'build/cycles.js', 'build/names.js',
  'test/package-lock.json'
]

const args = process.argv.slice(2)
const flags = args.filter(arg => arg.startsWith('-'))
const files = args.filter(arg => !arg.startsWith('-'))

const env = {
  ...process.env,
  PATH: `${testFolder}/node_modules/.bin:${process.env.PATH}`, // oxlint finds its type-aware part there
  GOGC: 'off', // as in compile.js: collecting garbage is a fifth of that part's CPU; without that it takes 1 GB
  TEST: '1' // @stylistic says nothing then of rules that its list-style, which wants another layout, is to replace
}
// Syntax trees of a few files at once fit into this young generation, which saves a twelfth of the CPU.
const NODE_FLAGS = ['--min-semi-space-size=32', '--max-semi-space-size=64']
const run = (config, ...rest) =>
  spawnSync(process.execPath, [
    ...NODE_FLAGS, `${testFolder}/node_modules/oxlint/bin/oxlint`, '--config', `build/${config}`, ...flags, ...rest
  ], { cwd: root, env, stdio: 'inherit' }).status === 0

const hashOf = file => createHash('sha256').update(readFileSync(join(root, file))).digest('base64url')

/** Hashes of the sources by path relative to the root. */
function sources () {
  const found = {}
  const walk = folder => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (/^(?:node_modules|dist|\..*)$/.test(entry.name)) continue
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name)) found[path] = hashOf(path)
    }
  }
  walk('.')
  return found
}

function lastPassed () {
  try {
    return JSON.parse(readFileSync(PASSED, 'utf8'))
  } catch {
    return {} // the first time, or after an interrupted one
  }
}

/** Checks the style of what changed since it last passed, and notes what passes; what --fix rewrote not yet. */
function checkStyle () {
  const rules = OF_STYLE.map(hashOf).join()
  const last = lastPassed()
  const now = sources()
  const changed = Object.keys(now).filter(file => last.rules !== rules || last.files[file] !== now[file])
  if (changed.length === 0) return true
  if (last.rules !== rules) console.log('checking the style of every file; later only of those that changed')
  if (!run('style.json', ...changed)) return false
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(PASSED, JSON.stringify({ rules, files: now }))
  return true
}

const styled = files.length > 0 ? run('style.json', ...files) : checkStyle()
const checked = run('oxlint.json', '--type-aware', ...files)
process.exitCode = styled && checked ? 0 : 1
