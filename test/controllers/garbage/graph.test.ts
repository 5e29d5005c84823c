import t from 'tap'
import type { CollectedType } from '../../../controllers/garbage/collected-type.js'
import { Graph } from '../../../controllers/garbage/graph.js'
import { stateIn, stateOf, type ObjectState } from '../../../controllers/garbage/object-state.js'
import { isDangling, isSuspect } from '../../../controllers/garbage/suspicion.js'
import type { Json } from '../../build.js'

const kinds = (kind: string): Pick<CollectedType, 'kinds'> => ({ kinds: [{ apiVersion: 'v1', kind }] })
const PODS = { label: 'pods', namespaced: true, ...kinds('Pod') } as CollectedType
const NODES = { label: 'nodes', namespaced: false, ...kinds('Node') } as CollectedType

const state = (name: string, metadata: Json = {}): ObjectState =>
  stateOf({ metadata: { namespace: 'team', name, uid: `uid of ${name}`, ...metadata } })
const ref = (name: string, more: Json = {}): Json => ({
  apiVersion: 'v1', kind: 'Pod', name, uid: `uid of ${name}`, ...more
})
const owned = (...ownerReferences: readonly Json[]): Json => ({ ownerReferences })

t.test('dependents are those that name a UID, whether there is such an object or not', async t => {
  const graph = new Graph()
  t.equal(graph.put(PODS, 'a', state('a', owned(ref('top')))).owned, true)
  t.same([...graph.dependents('uid of top')].map(({ name }) => name), ['a'])
  t.equal(graph.put(PODS, 'top', state('top')).owned, false)
  t.equal(graph.put(PODS, 'a', state('a', owned(ref('top')))).owned, false, 'nothing has changed')
  t.equal(graph.delete(PODS, 'top')?.name, 'top')
  t.equal(graph.delete(PODS, 'top'), undefined)
  t.equal(graph.dependents('uid of top').size, 1)
  graph.put(PODS, 'a', state('a'))
  t.equal(graph.dependents('uid of top').size, 0)
  t.equal(graph.size, 1)
})

t.test('an object that replaced another of its name is another object', async t => {
  const graph = new Graph()
  graph.put(PODS, 'a', state('a', owned(ref('top'))))
  const { replaced, node } = graph.put(PODS, 'a', state('a', { uid: 'another' }))
  t.equal(replaced?.uid, 'uid of a')
  t.equal(graph.find('uid of a'), undefined)
  t.equal(graph.find('another'), node)
  t.equal(graph.dependents('uid of top').size, 0)
})

t.test('an object may have any number of owners', async t => {
  const graph = new Graph()
  const many = (name: string): Json[] => Array.from(
    { length: 60_000 }, (_, index) => ref(`${name} ${index}`, { blockOwnerDeletion: true })
  )
  graph.put(PODS, 'a', state('a', owned(...many('old'))))
  t.equal(graph.put(PODS, 'a', state('a', owned(...many('new')))).released.length, 60_000)
})

t.test('owners that are no longer blocked are told', async t => {
  const graph = new Graph()
  const blocking = { blockOwnerDeletion: true }
  graph.put(PODS, 'a', state('a', owned(ref('one', blocking), ref('two', blocking), ref('three'))))
  t.same([...graph.blocking('uid of one')].map(({ name }) => name), ['a'])
  t.same([...graph.blocking('uid of three')], [])
  const { released } = graph.put(PODS, 'a', state('a', owned(ref('one', blocking), ref('two'))))
  t.same(released, ['uid of two'])
  t.same([...graph.blocking('uid of two')], [])
})

t.test('an object begins to wait once', async t => {
  const graph = new Graph()
  const waiting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] }
  t.equal(
    graph.put(PODS, 'a', state('a', { finalizers: ['foregroundDeletion'] })).waits, false, 'it is not being deleted'
  )
  t.equal(graph.put(PODS, 'a', state('a', waiting)).waits, true)
  t.equal(graph.put(PODS, 'a', state('a', waiting)).waits, false)
})

t.test('an owner is one of that kind, name and namespace', async t => {
  const graph = new Graph()
  graph.put(PODS, 'top', state('top'))
  graph.put(NODES, 'node', state('node', { namespace: '' }))
  const cases: ReadonlyArray<readonly [boolean, Json, Json?]> = [
    [false, ref('top')],
    [false, ref('node', { kind: 'Node' })],
    [true, ref('top', { kind: 'Node' })],
    [true, ref('top', { apiVersion: 'v2' })],
    [true, ref('top', { name: 'other' })],
    [true, ref('top', { uid: 'other' })],
    [true, ref('top'), { namespace: 'other' }]
  ]
  for (const [dangles, reference, more] of cases) {
    const { node } = graph.put(PODS, 'a', state('a', { ...owned(reference), ...more }))
    t.equal(isDangling(graph, node), dangles, JSON.stringify([reference, more]))
    t.equal(isSuspect(graph, node), dangles, JSON.stringify([reference, more]))
    graph.delete(PODS, 'a')
  }
})

t.test('with one owner left an object does not dangle, but is looked at', async t => {
  const graph = new Graph()
  graph.put(PODS, 'top', state('top'))
  const { node } = graph.put(PODS, 'a', state('a', owned(ref('top'), ref('gone'))))
  t.equal(isDangling(graph, node), false)
  t.equal(isSuspect(graph, node), true)
})

t.test('metadata is read from stored JSON, without what is no reference', async t => {
  const metadata = {
    name: 'a',
    namespace: 'team',
    uid: 'u',
    resourceVersion: '7',
    ownerReferences: [ref('top')],
    finalizers: ['x'],
    managedFields: [{ manager: 'me' }]
  }
  t.match(stateIn(Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, spec: { metadata: {} } }))), {
    namespace: 'team', name: 'a', uid: 'u', resourceVersion: '7', owners: [ref('top')], finalizers: ['x'],
    isTerminating: false, storedVersion: ''
  })
  t.match(stateOf(
    {
      apiVersion: 'example.com/v1',
      metadata: { ...metadata, ownerReferences: [1, { uid: 'x' }, ref('top')], finalizers: 'no' }
    },
    9
  ), {
    owners: [ref('top')], finalizers: [], resourceVersion: '9', storedVersion: 'example.com/v1'
  })
  for (const nothing of [undefined, {}, { metadata: 1 }, { metadata: { uid: 3 } }]) {
    t.throws(() => stateOf(nothing), { message: 'the object has no UID' })
  }
})
