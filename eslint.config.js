// The one linter, which is also the formatter. Beside the style it holds the layering rules of
// docs/architecture.md; test/lint.test.ts proves that each of them bites.
import neostandard, { plugins } from 'neostandard'

const layer = (files, patterns) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: patterns.map(([regex, message]) => ({ regex, message })) }] }
})
const concerns = 'audit|authentication/index|authorization|deadline|dry-run|errors|health|in-flight-limits|metrics|negotiation|request-info|security-headers|shutdown|storage'
const shell = '^(\\.\\./)+(plugins|routes|app|cli|config)(/|\\.|$)'

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
  layer(['schemas/**/*.ts'], [[shell, 'schemas/ knows nothing above it'], ['^(\\.\\./)+storage', 'schemas/ knows nothing above it'], ['^fastify', 'schemas/ never imports Fastify']]),
  layer(['storage/**/*.ts'], [[shell, 'storage/ knows only schemas/'], ['^@?fastify', 'storage/ never imports Fastify']]),
  layer(['routes/**/*.ts'], [['^(\\.\\./)+plugins/(?!context\\.js|server\\.js)', 'routes import no plugin: they meet in decorators'], ['^(\\.\\./)+config', 'config is known to cli and app alone']]),
  layer(['plugins/**/*.ts'], [['^(\\.\\./)+routes', 'plugins import no route'], ['^(\\.\\./)+config', 'config is known to cli and app alone'], [`^\\.{1,2}/(${concerns})\\.js$`, 'plugins import no other plugin: they meet in decorators']]),
  { files: ['plugins/server.ts'], rules: { 'no-restricted-imports': 'off' } }
]
