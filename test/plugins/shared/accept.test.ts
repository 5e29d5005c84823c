import t from 'tap'
import { negotiate, type Available } from '../../../plugins/shared/accept.js'

const ALL: Available = { protobuf: true, watch: false, transforms: true }
const shown = (header: string | undefined, offer = ALL): string | undefined => {
  const found = negotiate(header, offer)
  if (found === undefined) return undefined
  const as = found.as === undefined ? '' : ` ${found.as} ${found.asVersion}`
  return `${found.format}${as}${found.pretty ? ' pretty' : ''}`
}

t.test('the best clause that can be served wins', async t => {
  for (const [header, expected] of [
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['text/html, *; q=.2', 'json'],
    ['application/json', 'json'],
    ['APPLICATION/JSON; charset=utf-8', 'json'],
    ['application/yaml', 'yaml'],
    ['application/vnd.orch.protobuf', 'protobuf'],
    ['application/vnd.orch.protobuf, application/json', 'protobuf'],
    ['application/json;q=0.5, application/yaml', 'yaml'],
    ['application/json;q=0.9, application/yaml;q=0.9', 'json'],
    ['text/html, */*;q=0.1', 'json'],
    ['text/html', undefined],
    ['*/*, application/yaml', 'yaml'],
    ['application/*, application/yaml, */*', 'yaml'],
    ['application/yaml;q=0.5, */*', 'json'],
    ['application/json;stream=', 'json'],
    ['application/json;q=0', undefined],
    ['application/json;q=0, */*', 'yaml'],
    ['application/json;as=Table;g=meta.orch.io;v=v1', 'json Table meta.orch.io/v1'],
    ['application/json;as=Table;v=v1beta1;g=meta.orch.io', 'json Table meta.orch.io/v1beta1'],
    ['application/json;as=Table;g=meta.k8s.io;v=v1, application/json', 'json Table meta.k8s.io/v1'],
    ['application/json;as=Table;g=meta.example.com;v=v1, application/json', 'json'],
    ['application/json;as=Table;g=meta.example.com;v=v1', undefined],
    ['application/json;as=Chair;g=meta.orch.io;v=v1', undefined],
    ['application/vnd.orch.protobuf;as=Table;g=meta.orch.io;v=v1, application/yaml', 'yaml'],
    [
      'application/vnd.orch.protobuf;as=PartialObjectMetadata;g=meta.orch.io;v=v1',
      'protobuf PartialObjectMetadata meta.orch.io/v1'
    ],
    ['application/json;pretty=1', 'json pretty'],
    ['application/json;stream=watch, application/json', 'json'],
    ['application/json;g=meta.orch.io;v=v1', undefined],
    ['application/json;v=v1, application/yaml', 'yaml'],
    ['application/__proto__', undefined],
    [',;,=;', undefined]
  ] as const) t.equal(shown(header), expected, String(header))
})

t.test('a stream is not offered as YAML and may be requested as stream=watch', async t => {
  const stream = { ...ALL, watch: true }
  t.equal(shown('application/yaml', stream), undefined)
  t.equal(shown('application/json;stream=watch', stream), 'json')
  t.equal(shown('application/vnd.orch.protobuf;stream=watch', stream), 'protobuf')
  t.equal(shown('application/json;stream=other', stream), undefined)
})

t.test('types that are not offered are skipped', async t => {
  t.equal(shown('application/vnd.orch.protobuf, application/json', { ...ALL, protobuf: false }), 'json')
  t.equal(shown('application/json;as=Table;g=meta.orch.io;v=v1', { ...ALL, transforms: false }), undefined)
  t.equal(
    shown('application/json;as=Table;g=meta.orch.io;v=v1, application/json', { ...ALL, transforms: 'metadata' }), 'json'
  )
  t.equal(
    shown('application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1', { ...ALL, transforms: 'metadata' }),
    'json PartialObjectMetadata meta.orch.io/v1'
  )
})
