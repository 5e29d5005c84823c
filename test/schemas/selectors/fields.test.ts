import t from 'tap'
import type { ApiObject } from '../../../schemas/meta/api-object.js'
import { parseFieldSelector, fieldValues } from '../../../schemas/selectors/fields.js'
import { clusterRoleBindings, configMaps, namespaces, secrets } from '../../stored.js'

const object = {
  kind: 'Secret', apiVersion: 'v1', metadata: { name: 'n', namespace: 'd' }, type: 'Opaque'
} as ApiObject

t.test('fields are compared with values', async t => {
  const matches = (text: string) => parseFieldSelector(text, secrets).matches(fieldValues(secrets, object))
  for (const text of [
    'metadata.name=n', 'metadata.name==n', 'metadata.namespace=d,type=Opaque', 'type!=x', '', ',',
    'metadata.name!=m,metadata.name!=o'
  ]) {
    t.equal(matches(text), true, text)
  }
  for (const text of [
    'metadata.name=m', 'metadata.name!=n', 'metadata.name=n,type=x', 'type=', 'metadata.name=n\\,x'
  ]) {
    t.equal(matches(text), false, text)
  }
})

t.test('fields that must be equal are known', async t => {
  const selector = parseFieldSelector('metadata.name=a\\=b\\,c\\\\,metadata.namespace!=x', configMaps)
  t.same([...selector.exact], [['metadata.name', 'a=b,c\\']])
  t.equal(selector.text, 'metadata.name=a\\=b\\,c\\\\,metadata.namespace!=x')
  t.match(parseFieldSelector('', configMaps), { empty: true, text: '' })
})

t.test('unknown fields are refused in the words of the type', async t => {
  t.throws(
    () => parseFieldSelector('spec.x=1', clusterRoleBindings),
    {
      name: 'DecodeError', message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'
    }
  )
  t.throws(
    () => parseFieldSelector('spec.x=1', namespaces),
    { name: 'DecodeError', message: 'field label not supported: spec.x' }
  )
  t.throws(
    () => parseFieldSelector('metadata.namespace=x', namespaces),
    { message: 'field label not supported: metadata.namespace' }
  )
  t.throws(() => parseFieldSelector('constructor=x', secrets), { message: 'field label not supported: constructor' })
  t.ok(parseFieldSelector('metadata.namespace=', clusterRoleBindings).matches(
    fieldValues(clusterRoleBindings, { ...object, metadata: {} })
  ))
  const active = { ...object, status: { phase: 'Active' } } as ApiObject
  t.ok(parseFieldSelector('status.phase=Active', namespaces).matches(fieldValues(namespaces, active)))
})

t.test('invalid text is refused', async t => {
  for (const text of [
    'metadata.name', '=x', 'metadata.name=a=b', 'metadata.name=a\\', 'metadata.name=a\\b', '!metadata.name',
    'metadata.name=a\\\\\\'
  ]) {
    t.throws(() => parseFieldSelector(text, configMaps), { name: 'DecodeError' }, text)
  }
  for (const [text, message] of [
    ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
    ['metadata.name=a==b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name =a', '"metadata.name " is not a known field selector: only "metadata.name", "metadata.namespace"']
  ] as const) t.throws(() => parseFieldSelector(text, configMaps), { message }, text)
  t.throws(
    () => parseFieldSelector(`metadata.name=${'!'.repeat(100_000)}`, configMaps),
    { name: 'DecodeError', message: /longer than/ }
  )
})

t.test('no text makes the parser slow', async t => {
  const started = process.cpuUsage()
  for (const text of ['!'.repeat(60_000), '\\'.repeat(60_000), 'a!'.repeat(30_000), '='.repeat(60_000)]) {
    t.throws(() => parseFieldSelector(text, configMaps), { name: 'DecodeError' })
  }
  t.ok(process.cpuUsage(started).user < 2_000_000, 'well under the seconds that backtracking would take')
})
