// The linter, which also formats. It enforces layout and the layers of docs/architecture.md (build/layers.js);
// test/lint.test.ts tests both. build/oxlint.json has all other rules.
import { readFileSync } from 'node:fs'
import layers from './build/layers.js'
import { importTestPackage } from './build/test-packages.js'

const { default: neostandard, plugins } = await importTestPackage('neostandard')

/** The names here of one of oxlint's rules. */
const named = rule => {
  const [name, plugin] = rule.split('/').reverse()
  return plugin === undefined || plugin === 'typescript'
    ? [name, `@typescript-eslint/${name}`]
    : [`${{ node: 'n' }[plugin] ?? plugin}/${name}`]
}

const oxlint = JSON.parse(readFileSync(new URL('build/oxlint.json', import.meta.url), 'utf8'))

export default [
  ...neostandard({ ts: true, noJsx: true, ignores: ['dist/**', '**/node_modules/**', '.cache/**', '.tap/**'] }),
  {
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      'no-return-assign': 'off',
      // A type shares the name of the value it derives from. The compiler reports real redeclarations.
      '@typescript-eslint/no-redeclare': 'off',
      '@stylistic/object-property-newline': 'off'
    }
  },
  {
    // For objects created per request: V8 gives each object literal with a getter its own hidden class, in the old
    // generation, which retains everything that the getter can reach until a full collection.
    files: [
      'admission', 'answers', 'auth', 'clients', 'controllers', 'event-loop', 'flow-control', 'plugins', 'registry',
      'routes', 'serving', 'storage'
    ].map(folder => `${folder}/**/*.ts`),
    rules: {
      'no-restricted-syntax': ['error', {
        selector: 'ObjectExpression > Property[kind=/^[gs]et$/]',
        message: 'Use a class with a getter: an object literal with one holds the whole request until the next full ' +
          'collection.'
      }]
    }
  },
  { linterOptions: { reportUnusedDisableDirectives: 'off' } }, // some are for oxlint
  // oxlint checks them: in half a second, where they took a third of the time here.
  { rules: Object.fromEntries(Object.keys(oxlint.rules).flatMap(named).map(name => [name, 'off'])) },
  { files: ['**/*.ts', '**/*.js'], rules: { '@stylistic/max-len': ['error', { code: 120 }] } },
  // Tables of tests, and what is generated.
  { files: ['test/**', '**/*.d.ts'], rules: { '@stylistic/max-len': 'off' } },
  layers
]
