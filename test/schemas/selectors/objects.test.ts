import t from 'tap'
import { selectorText } from '../../../schemas/selectors/objects.js'

t.test('a selector as text has its requirements by key and their values in order', async t => {
  t.equal(selectorText({
    matchLabels: { b: '', a: '1' },
    matchExpressions: [
      { key: 'f', operator: 'DoesNotExist' },
      { key: 'd', operator: 'NotIn', values: ['z'] },
      { key: 'c', operator: 'In', values: ['y', 'x'] },
      { key: 'e', operator: 'Exists' },
      { key: 'a', operator: 'In', values: ['1'] }
    ]
  }), 'a=1,a in (1),b=,c in (x,y),d notin (z),e,!f')
  t.equal(selectorText({}), '')
  t.equal(selectorText(undefined), '')
})
