import t from 'tap'
import { build } from '../../build.js'
import { applyJsonPatch, parseJsonPatch } from '../../../registry/patch/json-patch.js'
import { finish } from '../../../schemas/steps.js'

const patched = async (list: readonly unknown[], ...operations: object[]): Promise<unknown> =>
  (finish(applyJsonPatch({ list: [...list] }, parseJsonPatch(operations))) as { list: unknown }).list

t.test('indexes count from the start or from the end of a list', async t => {
  const abc = ['a', 'b', 'c']
  for (const [operation, made] of [
    [{ op: 'remove', path: '/list/-1' }, ['a', 'b']], [{ op: 'remove', path: '/list/-3' }, ['b', 'c']],
    [{ op: 'replace', path: '/list/-2', value: 'x' }, ['a', 'x', 'c']],
    // An item added at index -1 becomes the last one.
    [{ op: 'add', path: '/list/-1', value: 'x' }, ['a', 'b', 'c', 'x']],
    [{ op: 'add', path: '/list/-2', value: 'x' }, ['a', 'b', 'x', 'c']],
    [{ op: 'add', path: '/list/-4', value: 'x' }, ['x', 'a', 'b', 'c']],
    [{ op: 'add', path: '/list/-', value: 'x' }, ['a', 'b', 'c', 'x']],
    [{ op: 'copy', from: '/list/-1', path: '/list/0' }, ['c', 'a', 'b', 'c']],
    [{ op: 'move', from: '/list/-1', path: '/list/0' }, ['c', 'a', 'b']],
    [{ op: 'test', path: '/list/-1', value: 'c' }, abc],
    [{ op: 'remove', path: '/list/+1' }, ['a', 'c']], [{ op: 'remove', path: '/list/001' }, ['a', 'c']],
    [{ op: 'remove', path: '/list/-0' }, ['b', 'c']]
  ] as const) t.same(await patched(abc, operation), made, JSON.stringify(operation))
  t.same(
    await patched([{ n: 1 }, { n: 2 }], { op: 'replace', path: '/list/-1/n', value: 3 }), [{ n: 1 }, { n: 3 }],
    'on the way, too'
  )
  for (const operation of [
    { op: 'remove', path: '/list/-4' },
    { op: 'add', path: '/list/-5', value: 'x' },
    { op: 'replace', path: '/list/3', value: 'x' }
  ]) {
    await t.rejects(patched(abc, operation), /does not fit/, JSON.stringify(operation))
  }
})

t.test('replace of a member that an object does not have adds it', async t => {
  const on = async (document: unknown, path: string): Promise<unknown> =>
    finish(applyJsonPatch(document, parseJsonPatch([{ op: 'replace', path, value: 1 }])))
  t.same(await on({ spec: {} }, '/spec/a'), { spec: { a: 1 } })
  t.same(await on({ list: [{ b: 2 }] }, '/list/0/a'), { list: [{ b: 2, a: 1 }] })
  t.strictSame(Object.keys(await on({}, '/__proto__') as object), ['__proto__'], 'whatever it is called')
  for (const path of ['/none/a', '/list/0', '/list/-', '/text/a']) {
    await t.rejects(on({ list: [], text: 'x' }, path), /does not fit/, path)
  }
  const server = await build(t)
  await server.post('/api/v1/nodes', { metadata: { name: 'n' } })
  const { code, json } = await server.patch(
    '/api/v1/nodes/n', [{ op: 'replace', path: '/spec/unschedulable', value: true }], 'application/json-patch+json'
  )
  t.match(
    { code, spec: json.spec }, { code: 200, spec: { unschedulable: true } },
    'so that a false that is left out can be replaced'
  )
})

t.test('the whole object can be tested and replaced, and nothing else', async t => {
  const on = async (...operations: object[]): Promise<unknown> =>
    finish(applyJsonPatch({ a: 1 }, parseJsonPatch(operations)))
  t.same(
    await on(
      { op: 'replace', path: '', value: { b: 2 } }, { op: 'test', path: '', value: { b: 2 } },
      { op: 'add', path: '/c', value: 3 }
    ),
    { b: 2, c: 3 }
  )
  t.same(await on({ op: 'replace', path: '', value: [] }, { op: 'add', path: '/-', value: 1 }), [1])
  for (const operation of [
    { op: 'add', path: '', value: {} }, { op: 'remove', path: '' }, { op: 'copy', from: '', path: '/b' },
    { op: 'copy', from: '/a', path: '' }, { op: 'move', from: '', path: '/b' },
    { op: 'move', from: '/a', path: '' }, { op: 'test', path: '', value: {} }, { op: 'replace', path: '' },
    { op: 'replace', path: '', value: 1 }
  ]) await t.rejects(on(operation), /does not fit/, JSON.stringify(operation))
})

t.test('an error message contains a bounded part of a path', async t => {
  for (const op of ['remove', 'test', 'copy']) {
    await t.rejects(
      patched([], { op, path: '/list/x'.repeat(1000), from: '/nowhere'.repeat(1000), value: 1 }),
      { message: /^.{1,500}$/ }, op
    )
  }
})

t.test('a pointer of more than 8 KiB is 413, and many long ones cost what they visit', async t => {
  const server = await build(t)
  await server.post('/api/v1/nodes', { metadata: { name: 'n' } })
  const long = `/${'ä'.repeat(4096)}`
  for (const operation of [
    { op: 'add', path: long, value: 1 }, { op: 'move', path: '/a', from: long },
    { op: 'remove', path: '/'.repeat(2_900_000) }
  ]) {
    for (const path of ['/api/v1/nodes/n', '/api/v1/nodes/n?dryRun=All']) {
      t.match(await server.patch(path, [operation], 'application/json-patch+json'), {
        code: 413,
        json: {
          reason: 'RequestEntityTooLarge', message: /: JSON patch operation 0: "(path|from)" has more than 8192 bytes$/
        }
      })
    }
  }
  t.match(
    await server.patch(
      '/api/v1/nodes/n', [{ op: 'test', path: long.slice(0, -1), value: null }], 'application/json-patch+json'
    ),
    { code: 200 }
  )
  const slashes = Array.from({ length: 350 }, () => ({ op: 'test', path: '/'.repeat(8000), value: null }))
  t.throws(
    () => finish(applyJsonPatch({}, parseJsonPatch(slashes))),
    { message: 'the JSON patch goes through more than 1000000 values' }
  )
})
