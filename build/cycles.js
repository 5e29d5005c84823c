// Forbids import cycles, types included, so that modules can be read, moved and tested alone. Exception: types between
// a resource's declaration, rules, columns and conversion within one group.
import { readdirSync, readFileSync } from 'node:fs'
import { posix, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const IMPORTS = /^(import|export)( type)?\b[^'"`;]*?'(\.[^']+)\.js'|\bimport\('(\.[^']+)\.js'\)/gm
const groupOf = file => /^schemas\/api\/[^/]+\//.exec(file)?.[0]

/** Imports of every module, by path relative to the root. */
export function imports () {
  // The other folders change while tests run.
  const files = readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => !/^(?:node_modules|dist|test|examples|\.)/.test(name))
    .flatMap(entry =>
      entry.isDirectory()
        ? readdirSync(resolve(root, entry.name), { recursive: true, encoding: 'utf8' })
            .map(file => posix.join(entry.name, file))
        : [entry.name])
    .filter(file => file.endsWith('.ts'))
  return new Map(files.map(file => {
    const found = [...readFileSync(resolve(root, file), 'utf8').matchAll(IMPORTS)]
      .flatMap(([text, , type, specifier, later]) => {
        const path = posix.join(posix.dirname(file), specifier ?? later)
        // Generated modules only have types. What build/ shares is JavaScript.
        const to = path.endsWith('.proto') ? `${path}.d.ts` : path.startsWith('build/') ? `${path}.js` : `${path}.ts`
        const ofTypes = type !== undefined || /^import \{(?:\s*type \w+(?: as \w+)?,?)+\s*\}/.test(text)
        return ofTypes && groupOf(file) !== undefined && groupOf(file) === groupOf(to) ? [] : [to]
      })
    return [file, found]
  }))
}

/** The modules of the first cycle, with the first repeated at the end; empty without a cycle. */
export function cycle (graph) {
  const done = new Set()
  const visit = (file, path) => {
    const at = path.indexOf(file)
    if (at >= 0) return [...path.slice(at), file]
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const found = visit(next, [...path, file])
      if (found.length > 0) return found
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const found = visit(file, [])
    if (found.length > 0) return found
  }
  return []
}

let found

export const cycles = {
  meta: { type: 'problem', schema: [] },
  create: context => ({
    Program (node) {
      found ??= cycle(imports())
      // Of each file, as only those that have changed may be checked.
      if (found.includes(relative(root, context.filename))) {
        context.report({ node, message: `import cycle: ${found.join(' → ')}` })
      }
    }
  })
}
