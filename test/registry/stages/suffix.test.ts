import t from 'tap'
import { SUFFIX_LENGTH, randomSuffix } from '../../../registry/stages/suffix.js'

t.test('suffixes are letters that make no words, and do not come again', async t => {
  const made = Array.from({ length: 2000 }, () => randomSuffix())
  for (const one of made) if (!new RegExp(`^[bcdfghjklmnpqrstvwxz2456789]{${SUFFIX_LENGTH}}$`).test(one)) t.fail(one)
  t.ok(new Set(made).size > 1990)
})
