import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { withoutUrlSecrets } from '../../schemas/quote.js'
import { splitStreams } from '../../config/log-streams.js'
import { createLog, jsonLine, logLevel, textLine } from '../../config/logging.js'

function build (verbosity = 0) {
  const lines: string[] = []
  return { lines, log: createLog({ verbosity, write: line => lines.push(line) }) }
}

t.test('an entry is one line: time, level, message, fields', async t => {
  const { log, lines } = build()
  log.info({ count: 3, path: '/a', what: 'two words', list: ['a', 1] }, 'hello')
  t.match(lines, [
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO {2}hello count=3 path=\/a what="two words" list="\[\\"a\\",1\]"\n$/
  ])
})

t.test('untrusted text stays within its field and its line', async t => {
  const { log, lines } = build()
  log.warn(
    { url: '/x\n2026 ERROR fake a=b\u001b[31m\u009b', 'key\n': 1 }, 'bad\r\nmessage\u2028\u202ereversed\u2066\u200b'
  )
  log.warn('x'.repeat(100_000))
  for (const line of lines) {
    // eslint-disable-next-line no-control-regex -- what must not be there
    t.match(line, /^[^\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069]+\n$/)
    t.ok(line.length < 5000)
  }
})

t.test('secrets are omitted by name, at any depth, and in addresses', async t => {
  const { log, lines } = build()
  log.info(
    {
      authorization: 'Bearer sesame',
      clientToken: 'sesame',
      nested: { headers: { Authorization: 'sesame', cookie: 'sesame', accept: 'json' } }
    },
    'request'
  )
  log.info(
    { req: { method: 'GET', url: '/x?access_token=sesame&limit=1', headers: { authorization: 'sesame' } } }, 'request'
  )
  log.info({ url: '/x?access_token=sesame' }, 'request')
  t.notMatch(lines.join(''), /sesame/)
  t.match(lines[0], /json/)
  t.match(lines[1], /req="GET \/x\?access_token=…&limit=1"/)
  t.equal(withoutUrlSecrets('/a?b=c&password=x&d=e'), '/a?b=c&password=…&d=e')
  t.equal(
    withoutUrlSecrets(
      'https://ann:sesame@host/@a?auth=sesame;jwt=sesame&to=https%3A%2F%2Fx%3Faccess_token%3Dsesame%26b'
    ),
    'https://…@host/@a?auth=…;jwt=…&to=https%3A%2F%2Fx%3Faccess_token%3D…%26b'
  )
  t.equal(withoutUrlSecrets('/pods?labelSelector=token=a&continue=b'), '/pods?labelSelector=token=a&continue=b')
})

t.test('an error is logged with its causes', async t => {
  const { log, lines } = build()
  log.error({ err: new TypeError('outer', { cause: new Error('inner\nline') }) }, 'failed')
  t.match(lines, [/ERROR failed err="TypeError: outer <- Error: inner\\nline at /])
  log.error({ err: 'a string' }, 'failed')
  log.error({ err: undefined }, 'failed')
  t.match(lines[1], /err="a string"/)
})

t.test('a JSON entry has the members of upstream, and untrusted text is escaped', async t => {
  const lines: string[] = []
  const log = createLog({ verbosity: 6, format: 'json', write: line => lines.push(line) })
  log.info(
    { count: 3, ok: true, path: '/a?token=sesame', list: ['a', 1], password: 'sesame', msg: 'not this', v: 9 }, 'hello'
  )
  log.debug('seen')
  log.trace('all')
  log.warn('careful')
  log.error({ err: new TypeError('outer', { cause: new Error('inner') }), module: 'launch' }, 'bad\u001b\u2028')
  const [info, debug, trace, warning, error] = lines.map(line => JSON.parse(line) as Record<string, unknown>)
  t.ok(Math.abs(Number(info?.['ts']) - Date.now()) < 60_000)
  t.match(info, { v: 0, msg: 'hello', count: 3, ok: true, path: '/a?token=…', list: '["a",1]', password: '…' })
  t.same([debug?.['v'], trace?.['v'], warning?.['v']], [4, 6, 0])
  t.same([info, debug, trace, warning, error].map(entry => entry?.['level']), [
    'info', 'debug', 'trace', 'warn', 'error'
  ])
  t.match(error, { msg: 'bad\\u001b\\u2028', err: /^TypeError: outer <- Error: inner at / })
  t.notOk('v' in (error ?? {}), 'errors have none')
  // eslint-disable-next-line no-control-regex -- what must not be there
  for (const line of lines) t.match(line, /^\{[^\u0000-\u001f\u2028]+\}\n$/)
  t.match(JSON.parse(jsonLine('not json\n')), { v: 0, msg: 'not json' })
})

t.test('verbosity decides what is logged', async t => {
  t.equal(logLevel(0), 'info')
  t.equal(logLevel(3), 'info')
  t.equal(logLevel(4), 'debug')
  t.equal(logLevel(10), 'trace')
  const quiet = build(0)
  quiet.log.debug('hidden')
  t.strictSame(quiet.lines, [])
  const chatty = build(4)
  chatty.log.debug('shown')
  t.equal(chatty.lines.length, 1)
})

t.test('a line that is no JSON is passed on as text', async t => {
  t.equal(textLine('not json\n'), 'not json\n')
})

t.test('errors and the rest are streams of their own, in order and in blocks', async t => {
  const written: string[] = []
  const streams = (bufferBytes: number, flushInterval = 60_000) => splitStreams({
    bufferBytes, flushInterval, output: text => { written.push(`out ${text}`) },
    errors: text => { written.push(`err ${text}`) }
  })
  const log = createLog({ verbosity: 0, format: 'json', ...streams(0) })
  log.info('a')
  log.warn('b')
  log.error('c')
  t.match(written.splice(0), [/^out .*"msg":"a"/, /^out .*"msg":"b"/, /^err .*"msg":"c"/])

  const { write } = streams(10)
  for (const line of ['one\n', 'two\n']) write(line, false)
  t.strictSame(written, [], 'a block is not full')
  write('three\n', false)
  t.strictSame(written.splice(0), ['out one\ntwo\nthree\n'])
  write('four\n', false)
  write('bad\n', true)
  t.strictSame(written.splice(0), ['out four\n', 'err bad\n'], 'what waits comes before an error')
  streams(10, 1).write('five\n', false)
  while (written.length === 0) await sleep(1)
  t.strictSame(written, ['out five\n'], 'after the interval')
})
