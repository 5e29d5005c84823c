import t from 'tap'
import {
  managersIn, limitManagers, entriesOf, put, submitted, isReset, type Manager
} from '../../../registry/apply/managers.js'
import { Play } from './scenario.js'
import { finish } from '../../../schemas/steps.js'

const time = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
const updater = (manager: string, second: number, apiVersion = 'v1'): Manager => ({
  manager, operation: 'Update', apiVersion, subresource: '', time: time(second), fields: { [`f:${manager}`]: {} }
})

t.test('entries are sorted: appliers first, then by age, name, version and subresource', async t => {
  const entries = entriesOf([
    updater('b', 2), updater('z', 1), { ...updater('a', 2), subresource: 'status' }, updater('a', 2),
    { ...updater('late', 9), operation: 'Apply' }
  ])
  t.same(entries?.map(({ manager, subresource }) => [manager, subresource]), [
    ['late', undefined], ['z', undefined], ['a', undefined], ['a', 'status'], ['b', undefined]
  ])
  t.same(entries?.[0], {
    manager: 'late',
    operation: 'Apply',
    apiVersion: 'v1',
    time: time(9),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:late': {} }
  })
  t.same(entriesOf(managersIn(entries)), entries, 'and back')
  t.equal(entriesOf([]), undefined)
})

t.test('of more than ten updaters the oldest of a version are merged', async t => {
  const ten = Array.from({ length: 10 }, (_, at) => updater(`u${at}`, at))
  t.equal(limitManagers(ten), ten)
  const capped = limitManagers([...ten, updater('new', 20)])
  t.same(capped.map(({ manager }) => manager).sort(), [
    'ancient-changes', 'new', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9'
  ])
  t.match(capped.find(({ manager }) => manager === 'ancient-changes'), {
    operation: 'Update', apiVersion: 'v1', time: time(1), fields: { 'f:u0': {}, 'f:u1': {} }
  })
  const again = limitManagers([...capped, updater('newer', 21)])
  t.equal(again.length, 10)
  t.same(
    again.find(({ manager }) => manager === 'ancient-changes')?.fields, { 'f:u0': {}, 'f:u1': {}, 'f:u2': {} },
    'earlier merged fields are kept'
  )
  const versions = limitManagers([updater('old', 0, 'v2'), ...ten])
  t.same(
    versions.filter(({ manager }) => manager === 'ancient-changes').map(({ apiVersion, fields }) => [
      apiVersion, Object.keys(fields)
    ]),
    [['v1', ['f:u0', 'f:u1']]]
  )
  t.equal(
    limitManagers([...ten, { ...updater('applier', 30), operation: 'Apply' }]).length, 11,
    'appliers count for themselves'
  )
})

t.test('appliers over the limit are merged into one updater of their version, oldest first', async t => {
  const appliers = Array.from({ length: 32 }, (_, at): Manager => ({ ...updater(`a${at}`, at), operation: 'Apply' }))
  t.equal(limitManagers(appliers), appliers)
  const capped = limitManagers([
    ...appliers, { ...updater('new', 40), operation: 'Apply' }, { ...updater('other', 41, 'v2'), operation: 'Apply' }
  ])
  t.equal(capped.length, 33)
  t.same(capped.filter(({ operation }) => operation === 'Update'), [
    {
      manager: 'ancient-changes',
      operation: 'Update',
      apiVersion: 'v1',
      subresource: '',
      time: time(1),
      fields: { 'f:a0': {}, 'f:a1': {} }
    }
  ])
  const writer: Manager = { ...updater('a', 0), operation: 'Apply' }
  t.ok(limitManagers([...appliers, writer], writer).includes(writer), 'the current writer keeps its own entry')
  const again = limitManagers([...capped, { ...updater('newer', 42), operation: 'Apply' }])
  t.same(
    again.find(({ operation }) => operation === 'Update')?.fields, { 'f:a0': {}, 'f:a1': {}, 'f:a2': {} },
    'earlier merged fields are kept'
  )
})

t.test('thousands of managers are merged and pruned in time that grows with them', async t => {
  const start = process.cpuUsage()
  t.equal(limitManagers(Array.from({ length: 6000 }, (_, at) => updater(`u${at}`, at % 60))).length, 10)
  const play = new Play()
  play.do({ by: 'a', apply: { text: 'x', count: 2 } })
  play.managers = [
    ...play.managers,
    ...Array.from(
      { length: 6000 },
      (_, at): Manager => ({
        ...updater(`m${at}`, 0, 'toys/v1'), operation: 'Apply', fields: { 'f:entries': { [`f:e${at}`]: {} } }
      })
    )
  ]
  play.do({ by: 'a', apply: { text: 'x' } })
  t.equal(play.managers.length, 33)
  const { user, system } = process.cpuUsage(start)
  t.ok(user + system < 3_000_000, `${user + system} us`)
})

t.test('a time is that of the last change of what is owned', async t => {
  const before = [updater('a', 1)]
  t.equal(put(before, updater('a', 0), { 'f:a': {} }, () => time(5))[0]?.time, time(5))
  t.equal(put(before, updater('a', 0), { 'f:a': {} }, () => time(1))[0], before[0], 'within a second it is the same')
  t.equal(put(before, updater('a', 0), { 'f:b': {} }, () => time(5))[0]?.time, time(5))
  t.same(put(before, updater('a', 0), {}, () => time(5)), [])
})

t.test('managed fields sent by a client are normalized', async t => {
  const findings: unknown[] = []
  const read = (...entries: object[]) => finish(submitted(
    entries as Parameters<typeof submitted>[0], finding => { findings.push(finding) }
  ))
  const entry = {
    manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:b': {}, 'f:a': {} }
  }
  t.equal(JSON.stringify(read(entry)?.[0]?.fields), '{"f:a":{},"f:b":{}}')
  t.equal(read(entry, { ...entry, fieldsV1: { 'f:c': {} } })?.length, 1, 'the last one of a manager counts')
  t.equal(read({ manager: 'm', operation: 'Update' }), undefined, 'one without version and type says nothing')
  t.same(findings, [])
  read(entry, { ...entry, fieldsV1: { x: {} } })
  t.match(findings, [{ index: 1, detail: /colon/ }])
  const steps = submitted(
    [{
      ...entry, fieldsV1: Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`k:{"name":"${at}"}`, {}]))
    }] as Parameters<typeof submitted>[0],
    () => {}
  )
  let count = 0
  while (steps.next().done !== true) count++
  t.ok(count > 15, 'thousands of elements are parsed in steps')
  t.equal(
    read(...Array.from({ length: 20_000 }, (_, at) => ({ ...entry, manager: `m${at}` })))?.length, 20_000,
    'in time that grows with them'
  )
  t.ok(isReset([]) && isReset([{}]) && !isReset([entry]))
})

t.test('entries in an unknown version have no effect, and the next change drops them', async t => {
  const gone = { ...updater('gone', 0, 'toys/v0'), fields: { 'f:text': {} } }
  const play = new Play()
  play.do({ by: 'a', update: { text: 'x' } })
  const withGone = (): void => { play.managers = [...play.managers, gone] }
  withGone()
  play.do({ by: 'b', update: { text: 'x' } })
  t.same(play.owners['Update gone toys/v0'], ['.text'], 'nothing has changed')
  play.do({ by: 'b', update: { text: 'x', tags: ['t'] } })
  t.same(play.owners, { 'Update a': ['.count', '.text'], 'Update b': ['.tags', '.tags[="t"]'] })
  withGone()
  play.do({ by: 'c', apply: { text: 'y' }, force: true })
  t.same([play.conflicts, play.owners['Update gone toys/v0'], play.owners['Apply c']], [[], undefined, ['.text']])
})

t.test('an object of a thousand items is compared and applied in time that grows with it', async t => {
  const items = (count: number, value: string): object[] => Array.from(
    { length: count },
    (_, at) => ({ name: `item-${at}`, value: at === 7 ? value : 'x', ports: [{ port: at + 1, protocol: 'TCP' }] })
  )
  const cost = (count: number): number => {
    const play = new Play()
    play.do({ by: 'a', apply: { items: items(count, 'x') } })
    play.do({ by: 'a', apply: { items: items(count, 'y') } })
    const start = process.cpuUsage()
    for (const value of ['1', '2', '3', '4']) play.do({ by: 'a', apply: { items: items(count, value) } })
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  cost(500)
  const [small, large] = [cost(500), cost(4000)]
  t.ok(large < small * 8 * 3, `${large} for eight times what takes ${small} us`)
})
