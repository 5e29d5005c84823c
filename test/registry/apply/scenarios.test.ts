/** Owners after sequences of writes: each row is a sequence and its result. */
import t from 'tap'
import { Play, type Step, type Owners } from './scenario.js'

interface Story {
  readonly title: string
  readonly steps: readonly Step[]
  readonly object: object
  readonly owners: Owners
}

const port = (port: number, more: object = {}): object => ({ port, protocol: 'TCP', ...more })

const STORIES: readonly Story[] = [
  {
    title: 'whoever creates owns all there is, defaults and what holds others too',
    steps: [{ by: 'a', update: { text: 'x', entries: { k: 'v' }, items: [{ name: 'i' }], probe: {} } }],
    object: { count: 1, text: 'x', entries: { k: 'v' }, items: [{ name: 'i' }], probe: { seconds: 10 } },
    owners: {
      'Update a': [
        '.count', '.entries', '.entries.k', '.items', '.items[name="i"]', '.items[name="i"].name', '.probe',
        '.probe.seconds', '.text'
      ]
    }
  },
  {
    title: 'whoever applies owns what they said, and no defaults',
    steps: [
      { by: 'a', apply: { text: 'x', entries: { k: 'v' }, items: [{ name: 'i' }], probe: {}, lines: [], tags: ['t'] } }
    ],
    object: { count: 1, text: 'x', entries: { k: 'v' }, items: [{ name: 'i' }], probe: { seconds: 10 }, tags: ['t'] },
    owners: {
      'Apply a': ['.entries.k', '.items[name="i"]', '.items[name="i"].name', '.lines', '.probe', '.tags[="t"]', '.text']
    }
  },
  {
    title: 'an applied empty list that merges is nobody\'s, so the next applier adds to it',
    steps: [
      { by: 'a', apply: { text: 'x', items: [], tags: [] } },
      { by: 'b', apply: { items: [{ name: 'i', ports: [] }], tags: ['t'] } },
      { by: 'c', apply: { items: [{ name: 'i', ports: [port(1)] }] } }
    ],
    object: { count: 1, text: 'x', items: [{ name: 'i', ports: [port(1)] }], tags: ['t'] },
    owners: {
      'Apply a': ['.text'],
      'Apply b': ['.items[name="i"]', '.items[name="i"].name', '.tags[="t"]'],
      'Apply c': [
        '.items[name="i"]', '.items[name="i"].name', '.items[name="i"].ports[port=1,protocol="TCP"]',
        '.items[name="i"].ports[port=1,protocol="TCP"].port', '.items[name="i"].ports[port=1,protocol="TCP"].protocol'
      ]
    }
  },
  {
    title: 'empty maps, empty structs and empty atomic lists are owned',
    steps: [{ by: 'a', apply: { entries: {}, probe: {}, lines: [] } }],
    object: { count: 1, probe: { seconds: 10 } },
    owners: { 'Apply a': ['.entries', '.lines', '.probe'] }
  },
  {
    title: 'what an applier applied to a list is removed when it applies an empty one',
    steps: [
      { by: 'a', apply: { text: 'x', items: [{ name: 'i' }], tags: ['t'] } },
      { by: 'a', apply: { text: 'x', items: [], tags: [] } }
    ],
    object: { count: 1, text: 'x' },
    owners: { 'Apply a': ['.text'] }
  },
  {
    title: 'a changed field moves to who changed it, and the others keep the rest',
    steps: [{ by: 'a', update: { text: 'x', lines: ['1'] } }, { by: 'b', update: { text: 'y', lines: ['1'] } }],
    object: { count: 1, text: 'y', lines: ['1'] },
    owners: { 'Update a': ['.count', '.lines'], 'Update b': ['.text'] }
  },
  {
    title: 'a removed field is nobody\'s, and who owned nothing else is gone',
    steps: [{ by: 'a', apply: { text: 'x' } }, { by: 'b', update: { count: 1 } }],
    object: { count: 1 },
    owners: {}
  },
  {
    title: 'an update that changes nothing owns nothing',
    steps: [{ by: 'a', update: { text: 'x' } }, { by: 'b', update: { text: 'x', count: 1, tags: [] } }],
    object: { count: 1, text: 'x' },
    owners: { 'Update a': ['.count', '.text'] }
  },
  {
    title: 'an apply that differs from another manager\'s value conflicts and changes nothing',
    steps: [
      { by: 'a', update: { text: 'x', count: 2 } },
      { by: 'b', apply: { text: 'y', count: 3, tags: ['t'] }, conflicts: ['Update a .count', 'Update a .text'] }
    ],
    object: { count: 2, text: 'x' },
    owners: { 'Update a': ['.count', '.text'] }
  },
  {
    title: 'force takes the value and the field',
    steps: [{ by: 'a', apply: { text: 'x', count: 2 } }, { by: 'b', apply: { text: 'y' }, force: true }],
    object: { count: 2, text: 'y' },
    owners: { 'Apply a': ['.count'], 'Apply b': ['.text'] }
  },
  {
    title: 'two appliers of one value share it, and a later change by either conflicts',
    steps: [
      { by: 'a', apply: { text: 'x' } },
      { by: 'b', apply: { text: 'x' } },
      { by: 'a', apply: { text: 'y' }, conflicts: ['Apply b .text'] }
    ],
    object: { count: 1, text: 'x' },
    owners: { 'Apply a': ['.text'], 'Apply b': ['.text'] }
  },
  {
    title: 'what one of two owners drops stays with the other',
    steps: [
      { by: 'a', apply: { text: 'x', count: 2 } }, { by: 'b', apply: { text: 'x' } }, { by: 'a', apply: { count: 2 } }
    ],
    object: { count: 2, text: 'x' },
    owners: { 'Apply a': ['.count'], 'Apply b': ['.text'] }
  },
  {
    title: 'what its only owner drops goes, or is its default again',
    steps: [{ by: 'a', apply: { text: 'x', count: 2, lines: ['l'] } }, { by: 'a', apply: { lines: ['l'] } }],
    object: { count: 1, lines: ['l'] },
    owners: { 'Apply a': ['.lines'] }
  },
  {
    title: 'what an updater owns as well stays when an applier drops it',
    steps: [
      { by: 'u', update: { text: 'x' } },
      { by: 'a', apply: { text: 'x', tags: ['t'] } },
      { by: 'a', apply: { tags: ['t'] } }
    ],
    object: { count: 1, text: 'x', tags: ['t'] },
    owners: { 'Update u': ['.count', '.text'], 'Apply a': ['.tags[="t"]'] }
  },
  {
    title: 'an applier who says nothing any more has no entry',
    steps: [{ by: 'a', apply: { text: 'x' } }, { by: 'a', apply: {} }],
    object: { count: 1 },
    owners: {}
  },
  {
    title: 'a struct that nobody owns anything of goes with its defaults',
    steps: [{ by: 'a', apply: { probe: { path: '/' } } }, { by: 'a', apply: { text: 'x' } }],
    object: { count: 1, text: 'x' },
    owners: { 'Apply a': ['.text'] }
  },
  {
    title: 'a struct that somebody else owns a part of stays',
    steps: [
      { by: 'a', apply: { probe: { path: '/' } } },
      { by: 'b', apply: { probe: { seconds: 5 } } },
      { by: 'a', apply: { text: 'x' } }
    ],
    object: { count: 1, text: 'x', probe: { seconds: 5 } },
    owners: { 'Apply b': ['.probe.seconds'], 'Apply a': ['.text'] }
  },
  {
    title: 'entries of a map have an owner each',
    steps: [
      { by: 'a', apply: { entries: { x: '1', y: '2' } } },
      { by: 'b', apply: { entries: { z: '3' } } },
      { by: 'a', apply: { entries: { x: '1' } } }
    ],
    object: { count: 1, entries: { x: '1', z: '3' } },
    owners: { 'Apply a': ['.entries.x'], 'Apply b': ['.entries.z'] }
  },
  {
    title: 'an atomic map is one field',
    steps: [
      { by: 'a', apply: { whole: { x: '1' } } },
      { by: 'b', apply: { whole: { y: '2' } }, conflicts: ['Apply a .whole'] },
      { by: 'b', apply: { whole: { y: '2' } }, force: true }
    ],
    object: { count: 1, whole: { y: '2' } },
    owners: { 'Apply b': ['.whole'] }
  },
  {
    title: 'an atomic struct is one field',
    steps: [{ by: 'a', apply: { pair: { left: 'l' } } }, { by: 'b', update: { pair: { left: 'l', right: 'r' } } }],
    object: { count: 1, pair: { left: 'l', right: 'r' } },
    owners: { 'Update b': ['.pair'] }
  },
  {
    title: 'a default that was not said is another value of what is one field',
    steps: [
      { by: 'a', update: { pair: { right: 'r' }, count: 1 } },
      { by: 'b', apply: { pair: { right: 'r' } }, conflicts: ['Update a .pair'] },
      { by: 'b', apply: { pair: { right: 'r' } }, force: true }
    ],
    object: { count: 1, pair: { left: 'left', right: 'r' } },
    owners: { 'Update a': ['.count'], 'Apply b': ['.pair'] }
  },
  {
    title: 'but not to whom it belongs already, and where parts are owned it is nobody\'s',
    steps: [
      { by: 'a', apply: { pair: { right: 'r' }, probe: { path: '/' } } },
      { by: 'a', apply: { pair: { right: 'r' }, probe: { path: '/' } } },
      { by: 'b', apply: { probe: { path: '/' } } }
    ],
    object: { count: 1, pair: { left: 'left', right: 'r' }, probe: { path: '/', seconds: 10 } },
    owners: { 'Apply a': ['.pair', '.probe.path'], 'Apply b': ['.probe.path'] }
  },
  {
    title: 'an atomic list is one field',
    steps: [
      { by: 'a', apply: { lines: ['1'] } }, { by: 'b', apply: { lines: ['1', '2'] }, conflicts: ['Apply a .lines'] }
    ],
    object: { count: 1, lines: ['1'] },
    owners: { 'Apply a': ['.lines'] }
  },
  {
    title: 'items of a set have an owner each',
    steps: [
      { by: 'a', apply: { tags: ['x', 'y'] } }, { by: 'b', apply: { tags: ['z', 'y'] } },
      { by: 'a', apply: { tags: ['y'] } }, { by: 'b', apply: { tags: ['z'] } }
    ],
    object: { count: 1, tags: ['z', 'y'] },
    owners: { 'Apply a': ['.tags[="y"]'], 'Apply b': ['.tags[="z"]'] }
  },
  {
    title: 'items stand in the order in which they are applied, those of others before what they stood before',
    steps: [
      { by: 'a', apply: { tags: ['u', 'v'], items: [{ name: 'x' }] } },
      { by: 'b', apply: { tags: ['r', 'v', 's', 'w'], items: [{ name: 'y' }, { name: 'x' }, { name: 'z' }] } }
    ],
    object: { count: 1, tags: ['u', 'r', 'v', 's', 'w'], items: [{ name: 'y' }, { name: 'x' }, { name: 'z' }] },
    owners: {
      'Apply a': ['.items[name="x"]', '.items[name="x"].name', '.tags[="u"]', '.tags[="v"]'],
      'Apply b': [
        '.items[name="x"]', '.items[name="x"].name', '.items[name="y"]', '.items[name="y"].name', '.items[name="z"]',
        '.items[name="z"].name',
        '.tags[="r"]', '.tags[="s"]', '.tags[="v"]', '.tags[="w"]'
      ]
    }
  },
  {
    title: 'items that are applied in another order change places when something else changes as well',
    steps: [{ by: 'a', apply: { tags: ['x', 'y', 'z'] } }, { by: 'a', apply: { text: 't', tags: ['z', 'x', 'y'] } }],
    object: { count: 1, text: 't', tags: ['z', 'x', 'y'] },
    owners: { 'Apply a': ['.tags[="x"]', '.tags[="y"]', '.tags[="z"]', '.text'] }
  },
  {
    title: 'another order alone changes nothing',
    steps: [
      { by: 'a', apply: { tags: ['x', 'y', 'z'], items: [{ name: 'i' }, { name: 'j' }] } },
      { by: 'b', apply: { tags: ['z', 'x'], items: [{ name: 'j' }, { name: 'i' }] } }
    ],
    object: { count: 1, tags: ['x', 'y', 'z'], items: [{ name: 'i' }, { name: 'j' }] },
    owners: {
      'Apply a': [
        '.items[name="i"]', '.items[name="i"].name', '.items[name="j"]', '.items[name="j"].name', '.tags[="x"]',
        '.tags[="y"]', '.tags[="z"]'
      ],
      'Apply b': [
        '.items[name="i"]', '.items[name="i"].name', '.items[name="j"]', '.items[name="j"].name', '.tags[="x"]',
        '.tags[="z"]'
      ]
    }
  },
  {
    title: 'an item that its appliers apply no more goes with what others have updated in it',
    steps: [
      { by: 'a', apply: { items: [{ name: 'x' }, { name: 'y', value: '1' }] } },
      { by: 'b', update: { items: [{ name: 'x' }, { name: 'y', value: '1', more: { k: 'v' } }] } },
      { by: 'a', apply: { items: [{ name: 'x' }] } }
    ],
    object: { count: 1, items: [{ name: 'x' }] },
    owners: { 'Apply a': ['.items[name="x"]', '.items[name="x"].name'] }
  },
  {
    title: 'so does an entry of a map',
    steps: [
      { by: 'a', apply: { named: { x: { name: 'i', value: '1' }, y: { name: 'j' } } } },
      { by: 'b', update: { named: { x: { name: 'i', value: '1', more: { k: 'v' } }, y: { name: 'j' } } } },
      { by: 'a', apply: { named: { y: { name: 'j' } } } }
    ],
    object: { count: 1, named: { y: { name: 'j' } } },
    owners: { 'Apply a': ['.named.y', '.named.y.name'] }
  },
  {
    title: 'an entry that somebody else has made as well stays',
    steps: [
      { by: 'a', update: { named: { x: { name: 'i' } } } },
      { by: 'b', apply: { named: { x: { value: '1' } } } },
      { by: 'b', apply: { text: 't' } }
    ],
    object: { count: 1, text: 't', named: { x: { name: 'i' } } },
    owners: { 'Apply b': ['.text'], 'Update a': ['.count', '.named', '.named.x', '.named.x.name'] }
  },
  {
    title: 'items of a list are told apart by their key, wherever they stand',
    steps: [
      { by: 'a', apply: { items: [{ name: 'x', value: '1' }, { name: 'y' }] } },
      { by: 'b', apply: { items: [{ name: 'y', value: '2' }, { name: 'z' }] } },
      { by: 'a', apply: { items: [{ name: 'y' }] } }
    ],
    object: { count: 1, items: [{ name: 'y', value: '2' }, { name: 'z' }] },
    owners: {
      'Apply a': ['.items[name="y"]', '.items[name="y"].name'],
      'Apply b': [
        '.items[name="y"]', '.items[name="y"].name', '.items[name="y"].value', '.items[name="z"]',
        '.items[name="z"].name'
      ]
    }
  },
  {
    title: 'a key that was not said is its default',
    steps: [
      { by: 'a', apply: { items: [{ name: 'i', ports: [{ port: 80 }] }] } },
      { by: 'b', apply: { items: [{ name: 'i', ports: [port(80, { name: 'http' })] }] } }
    ],
    object: { count: 1, items: [{ name: 'i', ports: [port(80, { name: 'http' })] }] },
    owners: {
      'Apply a': [
        '.items[name="i"]', '.items[name="i"].name', '.items[name="i"].ports[port=80,protocol="TCP"]',
        '.items[name="i"].ports[port=80,protocol="TCP"].port'
      ],
      'Apply b': [
        '.items[name="i"]', '.items[name="i"].name', '.items[name="i"].ports[port=80,protocol="TCP"]',
        '.items[name="i"].ports[port=80,protocol="TCP"].name', '.items[name="i"].ports[port=80,protocol="TCP"].port',
        '.items[name="i"].ports[port=80,protocol="TCP"].protocol'
      ]
    }
  },
  {
    title: 'items with the same keys are owned and changed as one, wherever they stand',
    steps: [
      { by: 'a', update: { items: [{ name: 'x', value: '1' }, { name: 'x', value: '2' }, { name: 'y' }] } },
      { by: 'c', update: { items: [{ name: 'x', value: '1' }, { name: 'x', value: '4' }, { name: 'y' }] } }
    ],
    object: { count: 1, items: [{ name: 'x', value: '1' }, { name: 'x', value: '4' }, { name: 'y' }] },
    owners: {
      'Update a': ['.count', '.items', '.items[name="y"]', '.items[name="y"].name'], 'Update c': ['.items[name="x"]']
    }
  },
  {
    title: 'an item that becomes several has no fields but its keys, and has them again when it is one',
    steps: [
      { by: 'a', update: { items: [{ name: 'x', value: '1' }] } },
      { by: 'b', update: { items: [{ name: 'x', value: '1' }, { name: 'x', value: '2' }] } },
      {
        by: 'c', update: { items: [{ name: 'x', value: '1' }, { name: 'x', value: '2' }, { name: 'y' }, { name: 'y' }] }
      },
      { by: 'd', update: { items: [{ name: 'x', value: '1' }] } }
    ],
    object: { count: 1, items: [{ name: 'x', value: '1' }] },
    owners: {
      'Update a': ['.count', '.items'],
      'Update d': ['.items[name="x"]', '.items[name="x"].name', '.items[name="x"].value']
    }
  },
  {
    title: 'an applied item takes the place of all that have its keys',
    steps: [
      {
        by: 'a',
        update: {
          items: [{ name: 'x', value: '1', more: { k: 'v' } }, { name: 'y' }, { name: 'x', value: '3' }],
          tags: ['s', 's', 't']
        }
      },
      {
        by: 'b',
        apply: { items: [{ name: 'x', value: '3' }], tags: ['s'] },
        conflicts: ['Update a .items[name="x"]', 'Update a .tags[="s"]']
      },
      { by: 'b', apply: { items: [{ name: 'x', value: '3' }], tags: ['s'] }, force: true }
    ],
    object: { count: 1, items: [{ name: 'x', value: '3' }, { name: 'y' }], tags: ['s', 't'] },
    owners: {
      'Update a': ['.count', '.items', '.items[name="y"]', '.items[name="y"].name', '.tags', '.tags[="t"]'],
      'Apply b': ['.items[name="x"]', '.items[name="x"].name', '.items[name="x"].value', '.tags[="s"]']
    }
  },
  {
    title: 'a zero that was said counts as said',
    steps: [
      { by: 'a', update: { text: 'x' } },
      { by: 'b', apply: { text: '' }, conflicts: ['Update a .text'] },
      { by: 'b', apply: { text: '' }, force: true }
    ],
    object: { count: 1 },
    owners: { 'Update a': ['.count'], 'Apply b': ['.text'] }
  },
  {
    title: 'null is said as well: the field is owned, and is not there or its default',
    steps: [
      { by: 'a', update: { text: 'x', count: 3, lines: ['1'] } },
      {
        by: 'b',
        apply: { text: null, count: null, lines: null },
        conflicts: ['Update a .count', 'Update a .lines', 'Update a .text']
      },
      { by: 'b', apply: { text: null, count: null, lines: null }, force: true },
      { by: 'b', apply: { text: null, count: null } }
    ],
    object: { count: 1 },
    owners: { 'Apply b': ['.count', '.text'] }
  },
  {
    title: 'null for what has parts leaves those that others have set, and takes those that were applied',
    steps: [
      { by: 'a', update: { entries: { x: '1' }, items: [{ name: 'i' }], probe: { path: '/' } } },
      { by: 'b', apply: { entries: { y: '2' }, tags: ['t'] } },
      { by: 'b', apply: { entries: null, items: null, probe: null, tags: null } }
    ],
    object: { count: 1, entries: { x: '1' }, items: [{ name: 'i' }], probe: { path: '/', seconds: 10 } },
    owners: {
      'Update a': [
        '.count', '.entries', '.entries.x', '.items', '.items[name="i"]', '.items[name="i"].name', '.probe',
        '.probe.path', '.probe.seconds'
      ],
      'Apply b': ['.entries', '.items', '.probe', '.tags']
    }
  },
  {
    title: 'an applier and an updater of one name are two',
    steps: [{ by: 'a', update: { text: 'x' } }, { by: 'a', apply: { text: 'y' }, conflicts: ['Update a .text'] }],
    object: { count: 1, text: 'x' },
    owners: { 'Update a': ['.count', '.text'] }
  },
  {
    title: 'what is owned in one version conflicts in another',
    steps: [
      { by: 'a', apply: { text: 'x' } },
      { by: 'b', version: 'toys/v2', apply: { words: 'y' }, conflicts: ['Apply a .text'] },
      { by: 'b', version: 'toys/v2', apply: { words: 'y' }, force: true }
    ],
    object: { count: 1, text: 'y' },
    owners: { 'Apply b toys/v2': ['.words'] }
  },
  {
    title: 'what was applied in one version is dropped in another',
    steps: [
      { by: 'a', version: 'toys/v2', apply: { words: 'x', entries: { x: '1', y: '2' } } },
      { by: 'b', apply: { entries: { y: '2' } } },
      { by: 'a', apply: { count: 2 } }
    ],
    object: { count: 2, entries: { y: '2' } },
    owners: { 'Apply b': ['.entries.y'], 'Apply a': ['.count'] }
  },
  {
    title: 'what was applied in one version is its default again when it is dropped in another',
    steps: [{ by: 'a', version: 'toys/v2', apply: { words: 'x', count: 3 } }, { by: 'a', apply: { text: 'x' } }],
    object: { count: 1, text: 'x' },
    owners: { 'Apply a': ['.text'] }
  },
  {
    title: 'and when it is dropped where somebody else speaks another version',
    steps: [
      { by: 'b', version: 'toys/v2', apply: { entries: { x: '1' } } },
      { by: 'a', apply: { text: 'x', count: 3 } },
      { by: 'a', apply: { text: 'x' } }
    ],
    object: { count: 1, text: 'x', entries: { x: '1' } },
    owners: { 'Apply b toys/v2': ['.entries.x'], 'Apply a': ['.text'] }
  },
  {
    title: 'what is applied in another version than before stays, though somebody else speaks one that lacks it',
    steps: [
      { by: 'b', apply: { tags: ['t'] } }, { by: 'c', version: 'toys/v3', apply: { count: 2 } },
      { by: 'a', version: 'toys/v2', apply: { words: 'x', entries: { x: '1', y: '1' } } },
      { by: 'a', apply: { text: 'x', entries: { y: '1' } } }
    ],
    object: { count: 2, text: 'x', entries: { y: '1' } },
    owners: { 'Apply b': ['.tags[="t"]'], 'Apply c toys/v3': ['.count'], 'Apply a': ['.entries.y', '.text'] }
  },
  {
    title: 'what is dropped of a map leaves the rest of it, whatever version others speak',
    steps: [
      { by: 'b', version: 'toys/v2', apply: { count: 2 } },
      { by: 'a', apply: { entries: { x: '1', y: '1' } } },
      { by: 'a', apply: { entries: { y: '1' } } }
    ],
    object: { count: 2, entries: { y: '1' } },
    owners: { 'Apply b toys/v2': ['.count'], 'Apply a': ['.entries.y'] }
  },
  {
    title: 'what nobody owns stays when another version is spoken',
    steps: [
      { by: 'u', update: { entries: { n: '1' } }, ignored: ['entries'] },
      { by: 'a', version: 'toys/v2', apply: { entries: { x: '1', y: '1' } } },
      { by: 'a', apply: { entries: { x: '1' } } }
    ],
    object: { count: 1, entries: { n: '1', x: '1' } },
    owners: { 'Update u': ['.count'], 'Apply a': ['.entries.x'] }
  },
  {
    title: 'fields that a write cannot change are nobody\'s by it',
    steps: [
      { by: 'a', update: { text: 'x', status: 's' }, ignored: ['status'] },
      { by: 'b', apply: { status: 't', tags: ['t'] }, ignored: ['status'] }
    ],
    object: { count: 1, text: 'x', status: 't', tags: ['t'] },
    owners: { 'Update a': ['.count', '.text'], 'Apply b': ['.tags[="t"]'] }
  },
  {
    title: 'nor are parts of what it cannot change',
    steps: [
      { by: 'a', update: { entries: { x: '1', y: '1' } }, ignored: ['entries.x'] },
      { by: 'b', apply: { entries: { x: '1', z: '1' }, items: [{ name: 'i' }] }, ignored: ['entries.x', 'items'] }
    ],
    object: { count: 1, entries: { x: '1', y: '1', z: '1' }, items: [{ name: 'i' }] },
    owners: { 'Update a': ['.count', '.entries', '.entries.y'], 'Apply b': ['.entries.z'] }
  },
  {
    title: 'each subresource has entries of its own',
    steps: [
      { by: 'a', update: { text: 'x' } },
      { by: 'a', subresource: 'status', update: { text: 'x', count: 1, status: 's' } }
    ],
    object: { count: 1, text: 'x', status: 's' },
    owners: { 'Update a': ['.count', '.text'], 'Update a status': ['.status'] }
  },
  {
    title: 'a map key is data, whatever it is called',
    steps: [
      { by: 'a', apply: { entries: JSON.parse('{"__proto__":"1","constructor":"2"}') as object } },
      {
        by: 'b',
        apply: { entries: JSON.parse('{"__proto__":"3"}') as object },
        conflicts: ['Apply a .entries.__proto__']
      },
      { by: 'a', apply: { entries: { constructor: '2' } } }
    ],
    object: { count: 1, entries: { constructor: '2' } },
    owners: { 'Apply a': ['.entries.constructor'] }
  },
  {
    title:
      'in updates too: what is called as something that every object inherits comes, changes and goes like any other',
    steps: [
      { by: 'a', update: { entries: JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}') as object } },
      {
        by: 'b', update: { entries: JSON.parse('{"__proto__":"4","constructor":"2","hasOwnProperty":"5"}') as object }
      },
      { by: 'c', update: { entries: JSON.parse('{"constructor":"6","hasOwnProperty":"5","valueOf":"7"}') as object } }
    ],
    object: { count: 1, entries: JSON.parse('{"constructor":"6","hasOwnProperty":"5","valueOf":"7"}') as object },
    owners: {
      'Update a': ['.count', '.entries'],
      'Update b': ['.entries.hasOwnProperty'],
      'Update c': ['.entries.constructor', '.entries.valueOf']
    }
  }
]

for (const { title, steps, object, owners } of STORIES) {
  t.test(title, async t => {
    const play = new Play()
    for (const step of steps) {
      play.do(step)
      t.same(play.conflicts, step.conflicts ?? [], 'conflicts')
    }
    t.same(play.content, object)
    t.same(play.owners, owners)
  })
}
