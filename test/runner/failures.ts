/**
 * Failed assertions as a reader needs them: each with its place in the TypeScript source, and the command that repeats
 * its file.
 */
import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join, posix } from 'node:path'
import { MARK } from './batches.js'

/** Lines of output that are shown of a program that failed without an assertion. */
const LAST = 40
const COMPILED = /(?:file:\/\/)?[\w./@-]*?\b(dist\/[\w./@-]+\.js):(\d+):(\d+)/g
/** How tap writes the place of an assertion. */
const PLACE = /fileName: (dist\/\S+\.js)\n\s*lineNumber: (\d+)\n\s*columnNumber: (\d+)/g

/** Shows the failures of the output of `files`, which ran in one process with `env`. */
export function explain (root: string, output: string, files: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const failed = failedParts(output, files)
  if (failed.length === 0) {
    return `${inSources(root, output.split('\n').slice(-LAST).join('\n'))}\n${again(files, env)}`
  }
  return failed.map(([file, part]) =>
    `${inSources(root, failures(part))}\n${again(filesOf(file, files), env)}`).join('\n')
}

/** Those of `files` that failed. A program that failed without an assertion: any of its files may be why. */
export function failedFiles (output: string, files: readonly string[]): string[] {
  const failed = failedParts(output, files).flatMap(([file]) => filesOf(file, files))
  return failed.length === 0 ? [...files] : [...new Set(failed)]
}

const filesOf = (file: string, files: readonly string[]): readonly string[] => files.includes(file) ? [file] : files

function failedParts (output: string, files: readonly string[]): Array<readonly [file: string, part: string]> {
  const parts = files.length === 1
    ? [[files[0] ?? '', output] as const]
    : output.split(`# ${MARK}`).map(part => [part.slice(0, part.indexOf('\n')), part] as const)
  return parts.filter(([, part]) => /^\s*not ok/m.test(part))
}

function failures (output: string): string {
  const shown: string[] = []
  let showing = false
  for (const line of output.split('\n')) {
    if (/^\s*not ok/.test(line)) showing = true
    else if (/^\s*(ok \d|# Subtest|1\.\.|# \{ total)/.test(line)) showing = false
    if (showing) shown.push(line)
  }
  return shown.join('\n')
}

const again = (files: readonly string[], env: NodeJS.ProcessEnv): string =>
  `again: ${Object.entries(env).map(([name, value]) => `${name}=${value} `).join('')}npm test -- ` +
  `${files.map(file => file.replace(/^dist\/test\//, '').replace(/\.js$/, '')).join(' ')}`

/** Places in compiled files become those in their sources. */
function inSources (root: string, text: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  const placed = (match: string, file: string, line: string, column: string): string => {
    if (!maps.has(file)) maps.set(file, mapOf(root, file))
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return match
    return `${posix.join(posix.dirname(file), entry.originalSource)}:${entry.originalLine + 1}:` +
      `${entry.originalColumn + 1}`
  }
  return text.replace(PLACE, (...match) =>
    `source: ${placed(...match as [string, string, string, string])}`).replace(COMPILED, placed)
}

function mapOf (root: string, file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(join(root, `${file}.map`), 'utf8')) as SourceMapPayload)
  } catch {
    return undefined // of a bundle
  }
}
