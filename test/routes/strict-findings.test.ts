/** Findings about the members of a body, in the words and the order of upstream's tests of field validation. */
import t from 'tap'
import { build, type Client, type Answer } from '../build.js'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const YAML = { 'content-type': 'application/yaml' }

const json = (name: string): string => `{
  "metadata": { "name": "${name}", "name": "${name}", "unknownMeta": "x", "labels": { "app": "web" } },
  "spec": {
    "unknown1": "a", "unknownDupe": "b", "unknownDupe": { "x": 1, "x": 2 }, "paused": true, "paused": false,
    "selector": { "matchLabels": { "app": "web" } },
    "template": {
      "metadata": { "labels": { "app": "web" } },
      "spec": {
        "containers": [
          {
            "name": "c", "image": "i", "unknownNested": "x",
            "imagePullPolicy": "Always", "imagePullPolicy": "Never"
          }
        ]
      }
    }
  }
}`

const yaml = (name: string): string => `metadata:
  name: ${name}
  name: ${name}
  unknownMeta: x
spec:
  unknown1: a
  unknownDupe: b
  unknownDupe: c
  paused: true
  paused: false
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - name: c
        image: i
        unknownNested: x
        imagePullPolicy: Always
        imagePullPolicy: Never
`

const POD = 'spec.template.spec.containers[0]'
const AS_READ = [
  'duplicate field "metadata.name"', 'unknown field "metadata.unknownMeta"', 'unknown field "spec.unknown1"',
  'unknown field "spec.unknownDupe"', 'duplicate field "spec.paused"',
  `unknown field "${POD}.unknownNested"`, `duplicate field "${POD}.imagePullPolicy"`
]
const LINES = [
  'line 3: key "name"', 'line 8: key "unknownDupe"', 'line 10: key "paused"', 'line 20: key "imagePullPolicy"'
].map(where => `${where} already set in map`)
const UNKNOWN = ['metadata.unknownMeta', `${POD}.unknownNested`, 'spec.unknown1', 'spec.unknownDupe'].map(path =>
  `unknown field "${path}"`)

const warnings = ({ headers }: Answer): string[] =>
  [headers['warning'] ?? []].flat().map(warning => JSON.parse(warning.slice('299 - '.length)) as string)
/** The refusal without its introduction. */
const refusal = ({ json: { message } }: Answer): string =>
  String(message).split('strict decoding error: ')[1] ?? String(message)

async function check (
  server: Client, what: string, send: (query: string) => Promise<Answer>, warned: readonly string[], refused: string
): Promise<void> {
  t.equal(refusal(await send('?fieldValidation=Strict')), refused, `${what}, strictly`)
  t.same(warnings(await send('?fieldValidation=Ignore&dryRun=All')), [], `${what}, ignored`)
  t.same(warnings(await send('')), warned, what)
}

t.test('bodies and patches of declared types', async t => {
  const server = await build(t)
  await check(server, 'JSON', query => server.post(DEPLOYMENTS + query, json('a')), AS_READ, AS_READ.join(', '))
  await check(server, 'a PUT', query => server.put(`${DEPLOYMENTS}/a${query}`, json('a')), AS_READ, AS_READ.join(', '))
  await check(
    server, 'YAML', query => server.post(DEPLOYMENTS + query, yaml('b'), YAML), [...LINES, ...UNKNOWN],
    [`yaml: unmarshal errors:\n${LINES.map(line => `  ${line}`).join('\n')}`, ...UNKNOWN].join(', ')
  )
  const twice = [
    'metadata.name', 'spec.unknownDupe.x', 'spec.unknownDupe', 'spec.paused', `${POD}.imagePullPolicy`
  ].map(path => `duplicate field "${path}"`)
  for (const type of ['merge', 'strategic-merge']) {
    const patch = (query: string): Promise<Answer> =>
      server.patch(`${DEPLOYMENTS}/a${query}`, json('a'), `application/${type}-patch+json`)
    t.match(await patch('?fieldValidation=Strict'), {
      code: 422, json: { message: /strict decoding error: duplicate field .*, unknown field / }
    })
    const told = warnings(await patch(''))
    t.same(told.slice(twice.length), UNKNOWN, `${type} patch`)
    t.same(told.slice(0, twice.length).sort(), [...twice].sort(), `${type} patch`)
  }
})

t.test('an apply', async t => {
  const server = await build(t)
  const apply = (query: string): Promise<Answer> => server.patch(
    `${DEPLOYMENTS}/a?fieldManager=me${query}`,
    yaml('a').replace(/^.*unknown.*\n/gm, '').replace('metadata:', 'kind: Deployment\napiVersion: apps/v1\nmetadata:'),
    'application/apply-patch+yaml'
  )
  const lines = ['line 5: key "name"', 'line 8: key "paused"', 'line 17: key "imagePullPolicy"'].map(where =>
    `${where} already set in map`)
  t.equal(
    (await apply('&fieldValidation=Strict')).json.message,
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal ' +
    `errors:\n${lines.map(line => `  ${line}`).join('\n')}`
  )
  t.same(warnings(await apply('')), lines)
})
