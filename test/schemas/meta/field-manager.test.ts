import t from 'tap'
import { managerOf, validateFieldManager } from '../../../schemas/meta/field-manager.js'

const findings = (manager: string): string[] => {
  const found: string[] = []
  validateFieldManager(manager, 'manager', ({ type, detail }) => { found.push(`${type}: ${detail}`) })
  return found
}

t.test('a name has at most 128 bytes, all of printable characters', async t => {
  for (const fine of ['', 'kubectl-client-side-apply', 'a b', 'ü'.repeat(64), '🚀 日本']) t.same(findings(fine), [], fine)
  t.same(findings('ü'.repeat(65)), ['FieldValueTooLong: must have at most 128 bytes'])
  t.same(findings('ü\ta\u00a0'), [
    'FieldValueInvalid: invalid character U+0009 (at position 2)',
    'FieldValueInvalid: invalid character U+00A0 (at position 4)'
  ])
  t.ok(findings('\n'.repeat(100_000)).length < 200, 'so many findings say no more')
})

t.test('the manager\'s name is the printable text that fits', async t => {
  t.equal(managerOf('a\tb\u00a0c'), 'abc')
  t.equal(managerOf(`${'x'.repeat(127)}üy`), 'x'.repeat(127))
})
