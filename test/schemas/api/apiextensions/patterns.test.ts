import t from 'tap'
import { ObjectPatterns } from '../../../../schemas/api/apiextensions/patterns.js'
import { ValueValidator } from '../../../../schemas/api/apiextensions/schema-values.js'

t.test('many strings are matched in steps, and not all of those that take seconds', async t => {
  const details: string[] = []
  // It is heavy by its size, and quick as no string has a z.
  const schema = { items: { type: 'string', pattern: '^z{1000}$' } }
  const validating = new ValueValidator(new ObjectPatterns(), true).validating(
    schema, Array.from({ length: 40 }, () => 'a'.repeat(1900)), '', ({ detail = '' }) => { details.push(detail) }
  )
  let steps = 0
  while (validating.next().done !== true) steps++
  t.ok(steps >= 39, `${steps} steps`)
  t.equal(details.length, 40)
  t.match(details[0], /should match/)
  t.match(details[39], /is too long to be matched with/)
})
