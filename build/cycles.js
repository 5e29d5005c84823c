// No module imports itself by way of others, types included, so that each can be read, moved and tested alone. The one
// exception: types between the declaration of a resource and its rules, columns and conversion, within one group.
import { readdirSync, readFileSync } from 'node:fs'
import { posix, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const IMPORTS = /^(import|export)( type)?\b[^'"`;]*?'(\.[^']+)\.js'|\bimport\('(\.[^']+)\.js'\)/gm
const groupOf = file => /^schemas\/api\/[^/]+\//.exec(file)?.[0]

/** Every module of the product by its path below the root, and the modules it imports. */
export function imports () {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !/^(?:node_modules|dist|test|examples|\.)/.test(file))
  return new Map(files.map(file => {
    const found = [...readFileSync(resolve(root, file), 'utf8').matchAll(IMPORTS)].flatMap(([text, , type, specifier, later]) => {
      const path = posix.join(posix.dirname(file), specifier ?? later)
      const to = path.endsWith('.proto') ? `${path}.d.ts` : `${path}.ts` // what the build makes has its types alone
      const ofTypes = type !== undefined || /^import \{(?:\s*type \w+(?: as \w+)?,?)+\s*\}/.test(text)
      return ofTypes && groupOf(file) !== undefined && groupOf(file) === groupOf(to) ? [] : [to]
    })
    return [file, found]
  }))
}

/** The modules of the first import cycle, the first of them at the end again; empty when there is none. */
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
      if (found[0] === relative(root, context.filename)) context.report({ node, message: `import cycle: ${found.join(' → ')}` })
    }
  })
}
