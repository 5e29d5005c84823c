import t from 'tap'
import { decode } from '../../schemas/language/decode.js'
import { representations } from '../../schemas/resources.js'
import { tableColumns, tableRow } from '../../schemas/table.js'
import { firstThree } from '../../schemas/columns.js'
import { endpoints } from '../../schemas/api/core/endpoints.js'
import { humanDuration } from '../../schemas/meta/duration.js'
import { clusterRoleBindings, clusterRoles, configMaps, namespaces, secrets, serviceAccounts } from '../stored.js'

const now = Date.parse('2021-01-11T00:00:00Z')
const metadata = { name: 'n', namespace: 'd', creationTimestamp: '2021-01-01T00:00:00Z' }

t.test('a binding has columns for its role and, wide, for its subjects by kind', async t => {
  const { object } = decode(clusterRoleBindings.message, {
    metadata,
    roleRef: { kind: 'ClusterRole', name: 'view' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'User', name: 'v' },
      { kind: 'ServiceAccount', name: 's', namespace: 'd' }
    ]
  })
  t.same(tableRow(clusterRoleBindings, object, now).cells, ['n', 'ClusterRole/view', '10d', 'u, v', 'g', 'd/s'])
  t.same(tableColumns(clusterRoleBindings).map(({ name, priority }) => `${name} ${priority}`), [
    'Name 0', 'Role 0', 'Age 0', 'Users 1', 'Groups 1', 'ServiceAccounts 1'
  ])
  for (const column of tableColumns(clusterRoleBindings)) t.match(column, { type: 'string', description: /\.$/ })
})

t.test('the columns of the other types', async t => {
  t.same(
    tableRow(clusterRoles, decode(clusterRoles.message, { metadata }).object, now).cells, ['n', '2021-01-01T00:00:00Z'],
    'a type without columns of its own'
  )
  t.same(tableColumns(clusterRoles).map(({ name, type, format }) => [name, type, format]), [
    ['Name', 'string', 'name'], ['Created At', 'date', '']
  ])
  t.same(
    tableRow(namespaces, decode(namespaces.message, { metadata, status: { phase: 'Active' } }).object, now).cells,
    ['n', 'Active', '10d']
  )
  t.same(
    tableRow(
      configMaps, decode(configMaps.message, { metadata, data: { a: '', b: '' }, binaryData: { c: '' } }).object, now
    ).cells,
    ['n', 3, '10d']
  )
  t.same(
    tableRow(secrets, decode(secrets.message, { metadata, type: 'Opaque', data: { a: '' } }).object, now).cells,
    ['n', 'Opaque', 1, '10d']
  )
  t.same(
    tableRow(serviceAccounts, decode(serviceAccounts.message, { metadata: { name: 'n' } }).object, now).cells,
    ['n', 0, '<unknown>']
  )
})

t.test('what has more than a few values shows three and counts the rest', async t => {
  const failing = function * (): Generator<string> {
    yield * ['a', 'b', 'c']
    throw new Error('a fourth value is read')
  }
  t.equal(firstThree(failing(), 1_000_000), 'a,b,c + 999997 more...')
  t.equal(firstThree(['a', 'b', 'c'], 3), 'a,b,c')
  const addresses = Array.from({ length: 9000 }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}` }))
  const ports = Array.from({ length: 9000 }, (_, at) => ({ port: at + 1 }))
  const cellOf = (...subsets: object[]) =>
    tableRow(endpoints.stored, decode(endpoints.stored.message, { metadata, subsets }).object, now).cells[1]
  t.equal(cellOf({ addresses, ports }), '10.0.0.0:1,10.0.0.1:1,10.0.0.2:1 + 80999997 more...')
  t.equal(
    cellOf(
      { addresses: addresses.slice(0, 2) }, { notReadyAddresses: addresses },
      { addresses: [{ ip: 'fd00::1' }], ports: [{ port: 1 }, { port: 2 }] }
    ),
    '10.0.0.0,10.0.0.1,[fd00::1]:1 + 1 more...'
  )
})

t.test('a cell that is longer than any client shows is empty', async t => {
  const cellsOf = (name: string) => tableRow(
    clusterRoleBindings,
    decode(clusterRoleBindings.message, {
      metadata, roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [{ kind: 'User', name }]
    }).object,
    now
  ).cells
  t.equal(cellsOf('u'.repeat(64_000))[3]?.toString().length, 64_000)
  t.same(cellsOf('u'.repeat(64_001)), ['n', 'ClusterRole/view', '10d', null, '', ''])
})

t.test('an object of which nothing is known has a cell in each column, in every version of every type', async t => {
  for (const representation of representations) {
    const { cells } = tableRow(representation, decode(representation.message, {}).object, now)
    t.equal(cells.length, tableColumns(representation).length, `${representation.apiVersion} ${representation.plural}`)
    t.notMatch(cells.join(), /undefined|NaN|null/)
  }
})

t.test('durations get coarser as they grow', async t => {
  const second = 1000
  const [minute, hour, day] = [60 * second, 3600 * second, 86400 * second]
  const cases: Array<[number, string]> = [
    [-2 * second, '<invalid>'], [-second, '0s'], [0, '0s'], [999, '0s'], [119 * second, '119s'],
    [2 * minute, '2m'], [2 * minute + second, '2m1s'], [10 * minute - second, '9m59s'], [10 * minute + second, '10m'],
    [180 * minute - second, '179m'],
    [3 * hour, '3h'], [3 * hour + minute, '3h1m'], [8 * hour - second, '7h59m'], [8 * hour + minute, '8h'],
    [48 * hour - second, '47h'],
    [2 * day, '2d'], [2 * day + hour, '2d1h'], [8 * day - second, '7d23h'], [8 * day + hour, '8d'],
    [730 * day - second, '729d'],
    [730 * day, '2y'], [731 * day, '2y1d'], [8 * 365 * day - second, '7y364d'], [8 * 365 * day + day, '8y'],
    [2000 * 365 * day, '292y']
  ]
  for (const [duration, expected] of cases) t.equal(humanDuration(duration), expected, `${duration} ms`)
})
