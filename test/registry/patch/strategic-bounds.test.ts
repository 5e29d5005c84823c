/** Unusual member names, and patches that cost more than their size suggests. */
import t from 'tap'
import type { Json } from '../../build.js'
import { isStatusError } from '../../../schemas/status.js'
import { merged, messageOf } from './scenarios.js'

const pod = messageOf('v1', 'Pod')
const parse = (text: string): Json => JSON.parse(text) as Json
const env = (count: number, first = 0): Json[] =>
  Array.from({ length: count }, (_, index) => ({ name: `N${first + index}`, value: 'x' }))

t.test('no name reaches inherited properties', async t => {
  for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    const content = parse(`{"metadata":{"labels":{"${name}":{"polluted":"yes"}}},"${name}":{"polluted":"yes"}}`)
    for (const before of [{}, { metadata: { labels: {} } }, content]) {
      const made = await merged(pod, before, content)
      t.ok(Object.hasOwn(made, name), `${name} is a member like any other`)
      t.ok(Object.hasOwn(made['metadata'].labels, name))
      t.strictSame(Object.getPrototypeOf(made), Object.prototype)
      t.strictSame(Object.getPrototypeOf(made['metadata'].labels), Object.prototype)
      const gone = await merged(pod, made, parse(`{"metadata":{"labels":{"${name}":null}},"${name}":null}`))
      t.strictSame(Object.keys(gone).concat(Object.keys(gone['metadata'].labels)), ['metadata'])
    }
    t.equal(({} as Json)['polluted'], undefined)
    const directives = parse(`{"spec":{"$setElementOrder/${name}":[],"containers":[]}}`)
    t.ok(isStatusError(await merged(pod, { spec: {} }, directives).catch((error: unknown) => error), 'BadRequest'))
    t.ok(isStatusError(
      await merged(pod, { spec: {} }, parse(`{"spec":{"$deleteFromPrimitiveList/${name}":["x"]}}`))
        .catch((error: unknown) => error),
      'BadRequest'
    ))
    t.strictSame(await merged(pod, { spec: { hostname: 'a' } }, { spec: { $retainKeys: [name] } }), { spec: {} })
    t.match(
      await merged(pod, { spec: { containers: [{ name }] } }, { spec: { containers: [{ name, image: 'x' }] } }),
      { spec: { containers: [{ name, image: 'x' }] } }
    )
  }
})

t.test('the result shares nothing with the patch', async t => {
  const patch = {
    metadata: { labels: { a: '1' } }, spec: { containers: [{ name: 'a', args: ['x'] }], tolerations: [{ key: 'a' }] }
  }
  const made = await merged(pod, { spec: { tolerations: [] } }, patch)
  made['metadata'].labels.a = '2'
  made['spec'].containers[0].args.push('y')
  made['spec'].tolerations[0].key = 'b'
  t.strictSame(patch, {
    metadata: { labels: { a: '1' } }, spec: { containers: [{ name: 'a', args: ['x'] }], tolerations: [{ key: 'a' }] }
  })
})

t.test('long lists are merged in time that grows with their length', async t => {
  const list = (count: number, first = 0): Json => ({ spec: { containers: [{ name: 'a', env: env(count, first) }] } })
  const made = await merged(pod, list(20_000), {
    spec: { containers: [{ name: 'a', env: env(20_000, 10_000), '$setElementOrder/env': env(30_000) }] }
  })
  t.equal(made['spec'].containers[0].env.length, 30_000)
  t.strictSame(
    made['spec'].containers[0].env.map(({ name }: Json) => name as string),
    env(30_000).map(({ name }) => name as string)
  )
})

t.test('a patch that names one item repeatedly is stopped', async t => {
  const before = { spec: { containers: [{ name: 'a', env: env(10_000) }] } }
  const again = { spec: { containers: Array.from({ length: 10_000 }, () => ({ name: 'a', env: [{ name: 'N1' }] })) } }
  t.ok(isStatusError(await merged(pod, before, again).catch((error: unknown) => error), 'RequestEntityTooLarge'))
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`l${index}`, 'x']))
  const retained = {
    spec: {
      containers: Array.from(
        { length: 10_000 }, () => ({ name: 'a', resources: { limits: { $retainKeys: ['l0', 'l1', 'l2'] } } })
      )
    }
  }
  t.match(
    await merged(pod, { spec: { containers: [{ name: 'a', resources: { limits: labels } }] } }, retained),
    { spec: { containers: [{ resources: { limits: { l0: 'x', l2: 'x' } } }] } }
  )
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`$setElementOrder/n${index}`, []]))
  t.ok(isStatusError(await merged(pod, { spec: {} }, { spec: many }).catch((error: unknown) => error), 'BadRequest'))
})

t.test('other requests run while a long list is merged', async t => {
  const before = {
    spec: { containers: Array.from({ length: 20_000 }, (_, index) => ({ name: `c${index}`, env: env(1) })) }
  }
  let turns = 0
  let going = true
  const count = (): void => {
    turns++
    if (going) setImmediate(count)
  }
  setImmediate(count)
  await merged(pod, before, {
    spec: {
      containers: Array.from(
        { length: 20_000 }, (_, index) => ({ name: `c${index}`, env: [{ name: 'N0', value: 'y' }] })
      )
    }
  })
  going = false
  t.ok(turns >= 1, `${turns} turns`)
})

t.test('objects nest as deep as bodies may', async t => {
  const deep = (depth: number, inner: string): Json => parse(`${'{"not":'.repeat(depth)}${inner}${'}'.repeat(depth)}`)
  const { JSONSchemaProps } = await import('../../../schemas/api/apiextensions/schemas.js')
  t.strictSame(
    await merged(JSONSchemaProps, deep(990, '{"type":"a"}'), deep(990, '{"title":"b"}')),
    deep(990, '{"type":"a","title":"b"}')
  )
})
