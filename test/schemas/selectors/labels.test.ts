import t from 'tap'
import { parseLabelSelector } from '../../../schemas/selectors/labels.js'

t.test('each operator', async t => {
  const cases: Array<[string, Record<string, string>, boolean]> = [
    ['a=b', { a: 'b' }, true], ['a=b', { a: 'c' }, false], ['a=b', {}, false], ['a==b', { a: 'b' }, true],
    ['a!=b', { a: 'b' }, false], ['a!=b', { a: 'c' }, true], ['a!=b', {}, true],
    ['a=', { a: '' }, true], ['a=', {}, false], ['a!=', { a: '' }, false],
    ['a in (b, c)', { a: 'c' }, true], ['a in (b,c)', { a: 'd' }, false], ['a in (b)', {}, false],
    ['a in (,b)', { a: '' }, true],
    ['a notin (b,c)', { a: 'c' }, false], ['a notin (b,c)', { a: 'd' }, true], ['a notin (b)', {}, true],
    ['a in ()', { a: '' }, true], ['a in ()', {}, false], ['a notin ()', { a: '' }, false],
    ['a', { a: '' }, true], ['a', {}, false], ['!a', { a: '' }, false], ['!a', {}, true], [' ! a ', {}, true],
    ['a>5', { a: '6' }, true], ['a>5', { a: '5' }, false], ['a>5', { a: 'x' }, false], ['a>5', {}, false],
    ['a<5', { a: '-6' }, true],
    ['a<9223372036854775807', { a: '9223372036854775806' }, true], ['a>5', { a: '99999999999999999999' }, false],
    ['a=b,c in (d),!e', { a: 'b', c: 'd' }, true], ['a=b,c in (d),!e', { a: 'b', c: 'd', e: '' }, false],
    ['example.com/a=b', { 'example.com/a': 'b' }, true],
    ['in in (in,notin)', { in: 'in' }, true], ['notin', { notin: '' }, true]
  ]
  for (const [text, labels, expected] of cases) {
    t.equal(parseLabelSelector(text).matches(labels), expected, `${text} on ${JSON.stringify(labels)}`)
  }
})

t.test('an empty selector matches everything', async t => {
  for (const text of ['', '  ']) t.match(parseLabelSelector(text), { empty: true, text: '' })
  t.ok(parseLabelSelector('').matches(undefined))
  t.notOk(parseLabelSelector('a').matches(undefined))
  t.equal(parseLabelSelector('a').empty, false)
})

t.test('inherited names are no labels', async t => {
  t.notOk(parseLabelSelector('constructor').matches({}))
  t.ok(parseLabelSelector('!toString').matches({}))
  t.ok(parseLabelSelector('valueOf notin (x)').matches({}))
})

t.test('the same selector has the same text', async t => {
  t.equal(parseLabelSelector('b , a  in (y, x),c==1').text, 'a in (x,y),b,c=1')
  t.equal(parseLabelSelector('c=1,a in (x,y),b').text, 'a in (x,y),b,c=1')
})

t.test('invalid text is refused and named', async t => {
  for (const text of [
    ',', 'a,', ',a', 'a b', 'a=b c', 'a in b', 'a in (b', 'a in (b c)', 'a in (b))', '!a=b', '!', '=b', 'a=b=c',
    'a=(b)', 'a>b', 'a<', 'a<9223372036854775808', 'a/b/c', 'a=b!', '-a', 'a=-b', `a=${'x'.repeat(64)}`,
    `a=${'b,a='.repeat(20_000)}`
  ]) {
    t.throws(() => parseLabelSelector(text), { name: 'DecodeError' }, text.slice(0, 20))
  }
})

t.test('and refused in the words of upstream', t => {
  for (const [text, message] of [
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a in b', "unable to parse requirement: found 'b', expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    [
      'a>b',
      'unable to parse requirement: values[0]: Invalid value: "b": ' +
      "for 'Gt', 'Lt' operators, the value must be an integer"
    ],
    ['-a', /^unable to parse requirement: key: Invalid value: "-a": name part must consist of /],
    ['a in (b,-c)', /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-c": a valid label must be /],
    [
      'a in (b,-c,_)',
      /^unable to parse requirement: \[values\[0\]\[a\]: Invalid value: "-c": a valid label must .*\), values\[1\]\[a\]: Invalid value: "_": a valid .*\]$/
    ],
    [
      `a=-${'b'.repeat(63)}`,
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b+": must be no more than 63 characters; a valid label must be /
    ],
    [`-${'b'.repeat(63)}`, /"-b+": name part must be no more than 63 characters; name part must consist of /]
  ] as const) t.throws(() => parseLabelSelector(text), { message }, text)
  t.end()
})
