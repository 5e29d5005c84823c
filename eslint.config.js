// The one linter, which is also the formatter. Beside the style it holds the layers of
// docs/architecture.md, in build/layers.js; test/lint.test.ts proves that they bite.
import layers from './build/layers.js'
import { importTestPackage } from './build/test-packages.js'

const { default: neostandard, plugins } = await importTestPackage('neostandard')

export default [
  ...neostandard({ ts: true, ignores: ['dist/**', '**/node_modules/**', '.cache/**', '.tap/**'] }),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      'no-duplicate-imports': 'error',
      'no-void': ['error', { allowAsStatement: true }],
      'no-return-assign': 'off',
      // A type and the value it is derived from share a name; the compiler finds real doubles.
      '@typescript-eslint/no-redeclare': 'off',
      '@stylistic/object-property-newline': 'off',
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }]
    }
  },
  {
    // What is made for each request: V8 gives each object literal with a getter a hidden class of its own, in its old generation,
    // and that holds all that the getter can reach until a full collection.
    files: ['admission', 'auth', 'clients', 'controllers', 'flow-control', 'plugins', 'registry', 'routes', 'serving', 'storage'].map(folder => `${folder}/**/*.ts`),
    rules: {
      'no-restricted-syntax': ['error', { selector: 'ObjectExpression > Property[kind=/^[gs]et$/]', message: 'Use a class with a getter: an object literal with one holds the whole request until the next full collection.' }]
    }
  },
  { files: ['test/**/*.ts'], rules: { '@typescript-eslint/no-floating-promises': 'off', 'max-lines': 'off' } },
  layers
]
