// The one linter, which is also the formatter. Beside the style it holds the layers of
// docs/architecture.md, in eslint.layers.js; test/lint.test.ts proves that they bite.
import neostandard, { plugins } from 'neostandard'
import layers from './eslint.layers.js'

export default [
  ...neostandard({ ts: true, ignores: ['dist/**', 'node_modules/**', '.cache/**', '.tap/**'] }),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      'no-void': ['error', { allowAsStatement: true }],
      'no-return-assign': 'off',
      // A type and the value it is derived from share a name; the compiler finds real doubles.
      '@typescript-eslint/no-redeclare': 'off',
      '@stylistic/object-property-newline': 'off',
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }]
    }
  },
  { files: ['test/**/*.ts'], rules: { '@typescript-eslint/no-floating-promises': 'off', 'max-lines': 'off' } },
  layers
]
