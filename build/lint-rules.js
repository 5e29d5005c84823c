// Our own lint rules: which folder may import which, no import cycles, who knows of names, and no getters in object
// literals.
import { relative, resolve } from 'node:path'
import { cycles } from './cycles.js'
import { layers } from './layers.js'
import { names } from './names.js'

const root = resolve(import.meta.dirname, '..')
/** Folders whose objects are created for each request. */
const OF_REQUESTS = [
  'admission', 'answers', 'auth', 'clients', 'controllers', 'event-loop', 'flow-control', 'plugins', 'registry',
  'routes', 'serving', 'storage'
]
const message =
  'Use a class with a getter: an object literal with one holds the whole request until the next full collection.'

// V8 gives each such literal a hidden class of its own, in the old generation, which holds all that a getter reaches.
const noGettersInLiterals = {
  meta: { type: 'problem', schema: [] },
  create: context => OF_REQUESTS.includes(relative(root, context.filename).split('/')[0])
    ? { 'ObjectExpression > Property[kind=/^[gs]et$/]': node => { context.report({ node, message }) } }
    : {}
}

export default {
  meta: { name: 'orch' },
  rules: { layers, cycles, names, 'no-getters-in-literals': noGettersInLiterals }
}
