// The linter, which also formats. It enforces the style and the layers of docs/architecture.md
// (build/layers.js); test/lint.test.ts tests both. No rule needs types: build/oxlint.json has the one that does.
import layers from './build/layers.js'
import { importTestPackage } from './build/test-packages.js'

const { default: neostandard, plugins } = await importTestPackage('neostandard')

export default [
  ...neostandard({ ts: true, noJsx: true, ignores: ['dist/**', '**/node_modules/**', '.cache/**', '.tap/**'] }),
  {
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      'no-duplicate-imports': 'error',
      'no-void': ['error', { allowAsStatement: true }],
      'no-return-assign': 'off',
      // A type shares the name of the value it derives from. The compiler reports real redeclarations.
      '@typescript-eslint/no-redeclare': 'off',
      '@stylistic/object-property-newline': 'off',
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }]
    }
  },
  {
    // The rules of declarations, and what calls them: they take the object, the old one, its place and the report, and
    // run for each field, where an object for arguments would cost.
    files: ['schemas/api/**', 'schemas/rules/**', 'schemas/resource.ts', 'schemas/language/validation.ts'],
    rules: { '@typescript-eslint/max-params': 'off' }
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
  // build/oxlint.json has it: here it took an eighth of the time.
  { rules: { 'no-unused-vars': 'off', '@typescript-eslint/no-unused-vars': 'off' } },
  { files: ['**/*.ts', '**/*.js'], rules: { '@stylistic/max-len': ['error', { code: 120 }] } },
  { files: ['test/**/*.ts'], rules: { '@typescript-eslint/max-params': 'off', 'max-lines': 'off' } },
  // Tables of tests, and what is generated.
  { files: ['test/**', '**/*.d.ts'], rules: { '@stylistic/max-len': 'off' } },
  layers
]
