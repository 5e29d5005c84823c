/** The order of merged lists: that of the patch, then that of the list, unless $setElementOrder says otherwise. */
import t from 'tap'
import type { Json } from '../../build.js'
import { run, messageOf, merged, type Scenario } from './scenarios.js'

const named = (letters: string): Json[] => [...letters].map(name => ({ name }))
const containers = (letters: string): Json => ({ spec: { containers: named(letters) } })
const change = (patch: string, order?: string): Json => ({
  spec: { containers: named(patch), ...(order === undefined ? {} : { '$setElementOrder/containers': named(order) }) }
})
const ordered = (order: string): Json => ({ spec: { '$setElementOrder/containers': named(order) } })
/** Each letter is a container. */
const order = (title: string, before: string, patch: Json, after: string): Scenario => ({
  title, object: containers(before), patch, gives: containers(after)
})

run(t, 'v1', 'Pod', [
  order('what the patch has keeps its place among the others', 'abcd', change('c'), 'abcd'),
  order('items the patch has come in its order', 'abcd', change('ca'), 'bcad'),
  order('new items come before those that are there', 'ab', change('x'), 'xab'),
  order('new items keep the order of the patch', 'ab', change('yx'), 'yxab'),
  order('a new item stands behind the one it follows in the patch', 'abc', change('bx'), 'abxc'),
  order('the reverse', 'abc', change('cba'), 'cba'),
  order('a new item between two', 'ab', change('axb'), 'axb'),

  order('$setElementOrder alone reorders', 'abc', ordered('cab'), 'cab'),
  order('$setElementOrder puts a new item at the end', 'ab', change('x', 'abx'), 'abx'),
  order('$setElementOrder puts a new item in the middle', 'ab', change('x', 'axb'), 'axb'),
  order('$setElementOrder puts a new item first', 'ab', change('x', 'xab'), 'xab'),
  order('items it does not know stay where they were', 'asb', ordered('ab'), 'asb'),
  order('items it does not know stay before those that were behind them', 'sab', change('x', 'abx'), 'sabx'),
  order('items it does not know keep their order when the others change theirs', 'asbt', ordered('ba'), 'sbat'),
  order('items it names that are nowhere are passed over', 'ab', ordered('bza'), 'ba'),
  order('an empty $setElementOrder changes nothing', 'ab', ordered(''), 'ab'),
  order('several new items', 'ac', change('xy', 'axcy'), 'axcy'),
  order('one is changed, one is new', 'ab', change('bx', 'abx'), 'abx'),
  {
    title: 'what is added in the place of what is deleted stands behind the others',
    object: containers('abd'),
    patch: {
      spec: { containers: [{ name: 'c' }, { name: 'a', $patch: 'delete' }], '$setElementOrder/containers': named('bc') }
    },
    gives: containers('bdc')
  },
  {
    title: 'all that is in the order stands behind them where the first of it does',
    object: containers('ad'),
    patch: {
      spec: {
        containers: [{ name: 'b' }, { name: 'c' }, { name: 'a', $patch: 'delete' }],
        '$setElementOrder/containers': named('bc')
      }
    },
    gives: containers('dbc')
  },
  {
    title: 'a deletion need not be in the order',
    object: containers('abc'),
    patch: {
      spec: {
        containers: [{ name: 'b', $patch: 'delete' }, { name: 'x' }], '$setElementOrder/containers': named('cax')
      }
    },
    gives: containers('cax')
  },
  {
    title: 'items are merged and ordered at once',
    object: { spec: { containers: [{ name: 'a', image: '1' }, { name: 'b', image: '2' }] } },
    patch: { spec: { containers: [{ name: 'b', image: '3' }], '$setElementOrder/containers': named('ba') } },
    gives: { spec: { containers: [{ name: 'b', image: '3' }, { name: 'a', image: '1' }] } }
  },
  {
    title: 'the order of a list that is not there says nothing',
    object: { spec: {} },
    patch: ordered('ab'),
    gives: { spec: {} }
  },
  {
    title: 'a list that was not there is ordered',
    object: { spec: {} },
    patch: change('ab', 'ab'),
    gives: containers('ab')
  },
  {
    title: 'one list is ordered within another',
    object: { spec: { containers: [{ name: 'a', env: named('xy') }] } },
    patch: {
      spec: {
        containers: [{ name: 'a', env: named('z'), '$setElementOrder/env': named('yzx') }],
        '$setElementOrder/containers': named('a')
      }
    },
    gives: { spec: { containers: [{ name: 'a', env: named('yzx') }] } }
  },
  {
    title: 'ports that share a number are brought together',
    object: {
      spec: {
        containers: [
          {
            name: 'a',
            ports: [
              { containerPort: 53, protocol: 'UDP' }, { containerPort: 80 }, { containerPort: 53, protocol: 'TCP' }
            ]
          }
        ]
      }
    },
    patch: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 443 }] }] } },
    gives: {
      spec: {
        containers: [
          {
            name: 'a',
            ports: [
              { containerPort: 443 }, { containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' },
              { containerPort: 80 }
            ]
          }
        ]
      }
    }
  },
  order(
    'an empty $setElementOrder leaves items where they were, whatever the order of the patch', 'abc', change('ca', ''),
    'abc'
  ),
  {
    title: 'ports that share a number are ordered together',
    object: {
      spec: {
        containers: [
          {
            name: 'a',
            ports: [
              { containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' }, { containerPort: 80 }
            ]
          }
        ]
      }
    },
    patch: {
      spec: { containers: [{ name: 'a', '$setElementOrder/ports': [{ containerPort: 80 }, { containerPort: 53 }] }] }
    },
    gives: {
      spec: {
        containers: [
          {
            name: 'a',
            ports: [
              { containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }, { containerPort: 53, protocol: 'TCP' }
            ]
          }
        ]
      }
    }
  },

  {
    title: 'items in another order than they are asked for are refused',
    object: containers('ab'),
    patch: change('ba', 'ab'),
    code: 400,
    says: /spec\.containers: .*\$setElementOrder/
  },
  {
    title: 'items that are not in the order are refused',
    object: containers('ab'),
    patch: change('x', 'ab'),
    code: 400,
    says: /spec\.containers: .*\$setElementOrder/
  },
  {
    title: 'an order that is no list is refused',
    object: containers('ab'),
    patch: { spec: { '$setElementOrder/containers': {} } },
    code: 400,
    says: /"\$setElementOrder\/containers" must be a list/
  },
  {
    title: 'an order of items without the merge key is refused',
    object: containers('ab'),
    patch: { spec: { '$setElementOrder/containers': [{ image: 'x' }] } },
    code: 400,
    says: /an object with "name"/
  },
  {
    title: 'an order of bare names is refused',
    object: containers('ab'),
    patch: { spec: { '$setElementOrder/containers': ['a', 'b'] } },
    code: 400,
    says: /an object with "name"/
  },
  {
    title: 'an order of nothing is refused',
    object: containers('ab'),
    patch: { spec: { $setElementOrder: [] } },
    code: 400,
    says: /must name a list/
  },
  {
    title: 'an order of a list that is replaced is refused',
    object: { spec: { tolerations: [{ key: 'a' }] } },
    patch: { spec: { '$setElementOrder/tolerations': [{ key: 'a' }] } },
    code: 400,
    says: /spec\.tolerations: \$setElementOrder is for lists that are merged/
  },
  {
    title: 'an order of what is no field is refused',
    object: containers('ab'),
    patch: { spec: { '$setElementOrder/container': [] } },
    code: 400,
    says: /spec\.container: \$setElementOrder/
  },
  {
    title: 'an order beside null is refused',
    object: containers('ab'),
    patch: { spec: { containers: null, '$setElementOrder/containers': [] } },
    code: 400,
    says: /spec\.containers: .*must be a list/
  }
])

const finalizers = (letters: string): Json => ({ metadata: { finalizers: [...letters] } })
run(t, 'v1', 'Pod', [
  {
    title: 'finalizers come in the order of the patch',
    object: finalizers('abc'),
    patch: finalizers('cx'),
    gives: finalizers('abcx')
  },
  {
    title: 'finalizers are ordered',
    object: finalizers('abc'),
    patch: { metadata: { '$setElementOrder/finalizers': ['c', 'a'] } },
    gives: finalizers('bca')
  },
  {
    title: 'finalizers that are not in the order are refused',
    object: finalizers('abc'),
    patch: { metadata: { finalizers: ['d'], '$setElementOrder/finalizers': ['a'] } },
    code: 400,
    says: /metadata\.finalizers/
  }
])

t.test('two lists of one object are ordered each for itself', async t => {
  const made = await merged(
    messageOf('v1', 'Pod'), { spec: { containers: named('ab'), volumes: named('cd') } },
    { spec: { '$setElementOrder/volumes': named('dc'), '$setElementOrder/containers': named('ba') } }
  )
  t.strictSame(made, { spec: { containers: named('ba'), volumes: named('dc') } })
})
