import t from 'tap'
import { setImmediate } from 'node:timers/promises'
import type { FlowSchema, PriorityLevelConfiguration } from '../../schemas/api/flowcontrol/v1beta1.js'
import {
  MANDATORY_LEVELS, MANDATORY_SCHEMAS, SUGGESTED_LEVELS, SUGGESTED_SCHEMAS
} from '../../flow-control/defaults.js'
import { distinguisher, FlowControl } from '../../flow-control/flow-control.js'
import { startInNextTurn } from '../../event-loop/batching.js'
import { FakeClock } from '../storage/fake-clock.js'
import { enter, type NotedTicket } from './tickets.js'

const ALICE = { username: 'alice', uid: '', groups: ['system:authenticated'], extra: {} }
const PODS = {
  path: '',
  isResourceRequest: true,
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'here',
  name: ''
}

/** A turn that never ends, however slow the machine is. */
const ENDLESS = { isOver: () => false, next: startInNextTurn }

function build (seats = 600) {
  const limits = new Map<string, number>()
  const control = new FlowControl({
    clock: new FakeClock(),
    seats,
    waitLimit: 1000,
    turns: ENDLESS,
    limited: (level, limit) => { limits.set(level, limit) }
  })
  return { control, limits }
}

const level = (name: string, assuredConcurrencyShares: number, queues = 4): PriorityLevelConfiguration =>
  ({
    apiVersion: '',
    kind: '',
    metadata: { name, uid: `uid of ${name}` },
    spec: {
      type: 'Limited',
      limited: {
        assuredConcurrencyShares,
        limitResponse: { type: 'Queue', queuing: { queues, handSize: 2, queueLengthLimit: 10 } }
      }
    },
    status: {}
  })
const schema = (name: string, to: string, matchingPrecedence = 1000, by?: string): FlowSchema => ({
  apiVersion: '',
  kind: '',
  metadata: { name, uid: `uid of ${name}` },
  spec: {
    priorityLevelConfiguration: { name: to },
    matchingPrecedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'alice' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }]
      }
    ]
  },
  status: {}
})

t.test('with nothing stored there is a flow for administrators and one for everybody', t => {
  const { control, limits } = build()
  t.match(control.flow(ALICE, PODS), { name: 'catch-all', uid: '', level: { name: 'catch-all' } })
  t.equal(control.flow({ ...ALICE, groups: ['system:masters'] }, PODS).level.queues, undefined)
  t.equal(control.flow({ ...ALICE, groups: [] }, PODS).name, 'catch-all', 'a user without groups too')
  t.same([...limits], [['catch-all', 600]])
  t.end()
})

t.test('each level has its share of the seats, rounded up', t => {
  const { control, limits } = build()
  control.configure([...MANDATORY_LEVELS, ...SUGGESTED_LEVELS], [...MANDATORY_SCHEMAS, ...SUGGESTED_SCHEMAS])
  t.same(Object.fromEntries(limits), {
    'catch-all': 13,
    system: 74,
    'node-high': 98,
    'leader-election': 25,
    'workload-high': 98,
    'workload-low': 245,
    'global-default': 49
  })
  control.configure([level('tiny', 1), level('huge', 2_000_000_000)], [])
  t.equal(limits.get('tiny'), 1, 'each has a seat')
  t.equal(limits.get('system'), 0, 'a removed level has none')
  t.end()
})

t.test('a schema without its level is skipped until the level exists', t => {
  const { control } = build()
  control.configure([], [schema('mine', 'gone')])
  t.equal(control.flow(ALICE, PODS).name, 'catch-all')
  t.equal(control.hasLevel('gone'), false)
  control.configure([level('gone', 10)], [schema('mine', 'gone')])
  t.match(control.flow(ALICE, PODS), { name: 'mine', uid: 'uid of mine', level: { name: 'gone', uid: 'uid of gone' } })
  t.end()
})

t.test('a removed level serves its queued requests and then releases its seats', async t => {
  const { control, limits } = build(100)
  control.configure([level('going', 95)], [schema('mine', 'going')])
  const { queues } = control.flow(ALICE, PODS).level
  if (queues === undefined) throw new Error('a limited level has queues')
  const { tickets } = enter(queues, 'flow', 97)
  t.equal(queues.waiting, 2)
  control.configure([], [schema('mine', 'going')])
  t.equal(control.flow(ALICE, PODS).name, 'catch-all')
  t.equal(control.hasLevel('going'), false)
  t.match(control.levels, [{ name: 'catch-all' }, { name: 'exempt' }, { name: 'going', quiescing: true }])
  t.equal(limits.get('catch-all'), 5)
  const [last, ...others] = tickets.reverse() as [NotedTicket, ...NotedTicket[]]
  for (const ticket of others) queues.leave(ticket)
  await setImmediate()
  queues.leave(last)
  t.same(last.notes, ['dispatched', 'released'])
  t.same(control.levels.map(({ name }) => name), ['catch-all', 'exempt'])
  t.equal(limits.get('catch-all'), 100)
})

t.test('a level that is restored while it is quiescing is the same one', t => {
  const { control } = build()
  control.configure([level('some', 95)], [schema('mine', 'some')])
  const before = control.flow(ALICE, PODS).level
  if (before.queues !== undefined) enter(before.queues, 'flow', 1)
  control.configure([], [])
  control.configure([level('some', 95)], [schema('mine', 'some')])
  t.equal(control.flow(ALICE, PODS).level, before)
  t.equal(before.quiescing, false)
  t.end()
})

t.test('unusable levels and schemas are ignored', t => {
  const { control, limits } = build()
  const broken: PriorityLevelConfiguration[] = [
    level('no-shares', 0),
    level('no-queues', 5, 0),
    { ...level('exempt-too', 5), spec: { type: 'Exempt' } },
    { ...level('exempt', 5) },
    { ...level('limited', 5), spec: { type: 'Limited' } },
    {
      ...level('mixed', 5),
      spec: { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Queue' } } }
    }
  ]
  control.configure(broken, [{ ...schema('catch-all', 'no-shares'), metadata: { name: 'catch-all' } }])
  t.same(control.levels.map(({ name }) => name), ['catch-all', 'exempt'])
  t.equal(limits.get('catch-all'), 600)
  t.equal(control.flow(ALICE, PODS).level.name, 'catch-all')
  t.end()
})

t.test('flows of a schema are distinguished by user, by namespace or not at all', t => {
  const { control } = build()
  const of = (by?: string): string => {
    control.configure([level('some', 5)], [schema('mine', 'some', 1000, by)])
    return distinguisher(control.flow(ALICE, PODS), ALICE, PODS)
  }
  t.equal(of('ByUser'), 'alice')
  t.equal(of('ByNamespace'), 'here')
  t.equal(of(), '')
  t.end()
})

t.test('ten thousand schemas and a thousand levels are configured in one go', t => {
  const { control } = build()
  const levels = Array.from({ length: 1000 }, (_, index) => level(`level-${index}`, 1 + index % 7))
  control.configure(
    levels,
    Array.from(
      { length: 10_000 },
      (_, index) => schema(`schema-${String(index).padStart(5, '0')}`, `level-${index % 1000}`, 5000)
    )
  )
  t.equal(control.flow(ALICE, PODS).name, 'schema-00000', 'of equal precedence the first by name')
  t.equal(control.levels.length, 1002)
  t.end()
})
