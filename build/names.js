// Who knows that anything has another name: imports a Naming or its public form, asks a Naming, or contains a public
// name. All others get what they need ready, or a function of their own. And who uses one of the few public names that
// count on every server.
import { dirname, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** What names are: the interface, the public ones, and its own tests. */
const EXEMPT = ['schemas/naming', 'schemas/compat', 'build', 'test', 'examples']

/** The first line of each says why. A new entry needs a better reason than those. */
export const KNOW_NAMES = [
  'admission/names',
  'answers/request-context',
  'answers/stored-view',
  'answers/view',
  'config/public-settings',
  'plugins/shared/client-names',
  'plugins/shared/outside',
  'routes/misnamed',
  'schemas/public-names'
]

/** Import a constant of `schemas/public-names.ts`: what stock clients, files and flags say to every server. */
export const USE_CONSTANTS = [
  'answers/stored-view', // the end of a watch's initial state
  'config/checks/index', 'config/combinations', 'config/flags/audit', 'config/flags/features', 'config/flags/storage',
  'host/given-body', // looks whether a body may have public names
  'plugins/audit/event', 'plugins/authentication/sent-credentials', 'plugins/connections/web-sockets',
  'plugins/registry/index', 'plugins/request-info/paths', 'plugins/shared/accept', 'plugins/storage/options',
  'plugins/zpages',
  'registry/apply/last-applied', // the annotation of client-side applies
  'routes/body', // the media type of protobuf
  'schemas/api/apiextensions/rules/approval', 'schemas/api/apiextensions/rules/formats',
  'schemas/api/apiserver/authentication-rules', 'schemas/api/authentication/tokenrequests',
  'schemas/api/core/rules/network-volumes', 'schemas/upstream-groups'
]

const CONSTANTS = ['schemas/public-names']
const SOURCES = ['schemas/naming', 'schemas/compat']
const PUBLIC = /(?:k8s|kubernetes)\\?\.io/

const isIn = (file, places) => places.some(place => file === place || file.startsWith(`${place}/`))
const mayKnow = file => isIn(file, EXEMPT) || KNOW_NAMES.includes(file)

/** Whether an import of a file is one of those. Paths are relative to the root, without extension. */
const imports = (from, specifier, places) => specifier.startsWith('.') &&
  isIn(relative(root, resolve(root, dirname(from), specifier)).replace(/\.js$/, ''), places)

export const names = {
  meta: { type: 'problem', schema: [] },
  create (context) {
    const from = relative(root, context.filename).replace(/\.ts$/, '')
    if (mayKnow(from)) return {}
    const report = (node, does) => {
      context.report({ node, message: `only those listed in build/names.js know of names, and this ${does}` })
    }
    const imported = ({ source }) => {
      if (typeof source?.value !== 'string') return
      if (imports(from, source.value, SOURCES)) report(source, 'imports them')
      if (!USE_CONSTANTS.includes(from) && imports(from, source.value, CONSTANTS)) report(source, 'uses public ones')
    }
    const asked = node => { report(node, 'asks a Naming') }
    const text = (node, value) => { if (PUBLIC.test(value)) report(node, 'contains a public one') }
    return {
      ImportDeclaration: imported,
      ExportNamedDeclaration: imported,
      ExportAllDeclaration: imported,
      ImportExpression: imported,
      'MemberExpression[object.name="naming"]': asked,
      'MemberExpression[object.property.name="naming"]': asked,
      'VariableDeclarator[init.name="naming"]': asked,
      'VariableDeclarator[init.property.name="naming"][id.type="ObjectPattern"]': asked,
      'Property[key.name="naming"][value.type="ObjectPattern"]': asked,
      // by another name it would be asked unseen
      'ObjectPattern > Property[key.name="naming"][value.type="Identifier"][value.name!="naming"]': asked,
      'VariableDeclarator[init.property.name="naming"][id.name!="naming"]': asked,
      Literal: node => { text(node, node.regex?.pattern ?? String(node.value)) },
      TemplateElement: node => { text(node, node.value.raw) }
    }
  }
}
