import t from 'tap'
import { stringify } from '../../../schemas/codec/json/exact.js'
import { indentedItem } from '../../../schemas/codec/json/indented.js'
import { parseYamlBody, writeText } from '../../../schemas/codec/text-thread.js'
import { toYaml } from '../../../schemas/codec/yaml/yaml-write.js'
import { parseYaml } from '../../../schemas/codec/yaml/yaml.js'

const large = (lines: number) => {
  const users = Array.from({ length: lines }, (_, index) => `- {kind: User, name: "user-${index}"}\n`)
  return Buffer.from(`__proto__: kept\nlist:\n${users.join('')}a: 1\na: 2\n`)
}

t.test('large documents come out as small ones do', async t => {
  const bytes = large(1500)
  const there = await parseYamlBody(bytes)
  const here = parseYaml(bytes)
  t.same(there, here)
  t.same(there.duplicates, ['a'])
  t.ok(Object.hasOwn(there.value as object, '__proto__'))
  t.same((await parseYamlBody(Buffer.from('a: 1'))).value, { a: 1 })
})

t.test('errors of large documents are worded like those of small ones', async t => {
  const bad = Buffer.concat([large(1500), Buffer.from('b: [')])
  t.throws(() => parseYaml(bad), { name: 'DecodeError', message: /not valid YAML/ })
  await t.rejects(parseYamlBody(bad), { name: 'DecodeError', message: /not valid YAML: .* in line \d+/ })
  await t.rejects(parseYamlBody(Buffer.from('a: b: c')), { name: 'DecodeError' })
})

t.test('concurrent documents are all parsed, while the event loop runs', async t => {
  const bytes = large(1500)
  let turns = 0
  let ended = false
  const turn = () => { if (!ended) { turns++; setTimeout(turn, 1) } }
  turn()
  const answers = await Promise.all(Array.from({ length: 4 }, () => parseYamlBody(bytes)))
  ended = true
  for (const { value } of answers) t.equal((value as { list: unknown[] }).list.length, 1500)
  t.ok(turns > 10, 'other work was done meanwhile')
})

t.test('objects are written as they are on the event loop', async t => {
  const value = { apiVersion: 'v1', data: { a: 'ü\nb', count: 12345678901234567890n }, list: [{ x: 1 }, []] }
  const json = Buffer.from(stringify(value) ?? '')
  const text = async (form: Parameters<typeof writeText>[1]): Promise<string> =>
    Buffer.from(await writeText(json, form)).toString()
  t.equal(await text({ format: 'yaml', item: false }), toYaml(value))
  t.equal(await text({ format: 'yaml', item: true }), toYaml([value]))
  t.equal(await text({ format: 'indented', item: false }), stringify(value, 2))
  t.equal(await text({ format: 'indented', item: true }), indentedItem(value))
  await t.rejects(writeText(json, { format: 'yaml', item: false }, { signal: AbortSignal.abort() }))
})

t.test('a tenant whose bodies wait already gets 429, and others are parsed', async t => {
  const comments = Buffer.from(`a: 1\n${`# ${'x'.repeat(1000)}\n`.repeat(2900)}`)
  const answers = await Promise.allSettled([
    ...Array.from({ length: 6 }, () => parseYamlBody(comments, { tenant: 'crowd' })),
    parseYamlBody(comments, { tenant: 'quiet' })
  ])
  t.same(
    answers.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'], 'one runs and two wait'
  )
  t.match(answers[3], { reason: { name: 'StatusError', status: { code: 429, details: { retryAfterSeconds: 1 } } } })
  t.ok((await parseYamlBody(comments, { tenant: 'crowd' })).value, 'when none waits')
})

t.test('tenants take turns, and none has all threads', async t => {
  const bytes = large(1500)
  const order: string[] = []
  const parse = async (tenant: string): Promise<void> => {
    await parseYamlBody(bytes, { tenant })
    order.push(tenant)
  }
  await Promise.all([parse('one'), parse('other')]) // starts both threads
  order.length = 0
  const crowd = Array.from({ length: 12 }, () => parse('crowd'))
  await parse('quiet')
  t.ok(order.length <= 6, `before the rest of the crowd: ${order.join()}`)
  await Promise.all(crowd)
  t.equal(order.length, 13)
})
