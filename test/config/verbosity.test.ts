/** `--vmodule`: which modules are more verbose than `-v` says. */
import t from 'tap'
import { createLog } from '../../config/logging.js'
import { idleRules, MODULES, ruleProblem, Verbosity } from '../../config/verbosity.js'

t.test('the first pattern that matches the name of a module says how verbose it is, and -v the least', async t => {
  const of = (v: number, ...rules: string[]) => MODULES.map(module => new Verbosity(v, rules).of(module))
  t.strictSame(MODULES, ['launch', 'metrics', 'request-log', 'tracing'])
  t.strictSame(of(2), [2, 2, 2, 2])
  t.strictSame(of(0, 'request-log=8'), [0, 0, 8, 0])
  t.strictSame(of(4, 'request-log=3'), [4, 4, 4, 4])
  t.strictSame(of(0, 'request*=8', '*=4', 'tracing=9'), [4, 4, 8, 4])
  t.strictSame(of(0, '?e*=5'), [0, 5, 5, 0])
  t.strictSame(of(0, '[l-m]*=5', '[^l-m]*=6'), [5, 5, 6, 6])
  t.strictSame(of(0, 'request=8', 'Tracing=8', 'trac.ng=8', '*-=8', 'request\\-log=7'), [0, 0, 7, 0])
  t.strictSame(of(0, 'request-log=999999999'), [0, 0, 999_999_999, 0])
})

t.test('an invalid rule is explained', async t => {
  for (const text of ['x', 'x=', '=1', 'x=-1', 'x=1.5', 'x=a', 'x=1=2', 'a b=1']) {
    t.match(ruleProblem(text), 'must have the form pattern=N', text)
  }
  for (const text of ['[=1', ']=1', '[]=1', '[^]=1', 'a\\=1', '[z-a]=1', '[a-]=1']) {
    t.match(ruleProblem(text), 'has a pattern that cannot be read', text)
  }
  for (const text of ['x=0', '*=1', '?=10', '[a-z]*=3', '\\*=2', 'é=1', '(+)|$^.=1']) {
    t.equal(ruleProblem(text), undefined, text)
  }
})

t.test('a --vmodule rule that matches no module is reported', async t => {
  t.strictSame(idleRules(['request*=8', 'httplog=3']), [
    '--vmodule: no module matches httplog; those that log by verbosity are launch, metrics, request-log, tracing'
  ])
})

t.test('a child of the log is as verbose as the module that it names', async t => {
  const lines: string[] = []
  const log = createLog({ verbosity: new Verbosity(0, ['metrics=4', 'tracing=6']), write: line => lines.push(line) })
  const say = (module?: string): void => {
    const one = module === undefined ? log : log.child({ module })
    one.info('info')
    one.debug('debug')
    one.trace('trace')
  }
  for (const module of [undefined, 'metrics', 'tracing', 'other']) say(module)
  t.strictSame(lines.map(line => line.slice(25, -1)), [
    'INFO  info', 'INFO  info module=metrics', 'DEBUG debug module=metrics', 'INFO  info module=tracing',
    'DEBUG debug module=tracing', 'TRACE trace module=tracing', 'INFO  info module=other'
  ])
})

t.test('a change holds for the log and for children that exist, and no less than the rules say', async t => {
  const lines: string[] = []
  const verbosity = new Verbosity(0, ['metrics=4'])
  const log = createLog({ verbosity, write: line => lines.push(line.slice(25, -1)) })
  const [metrics, tracing] = [log.child({ module: 'metrics' }), log.child({ module: 'tracing' })]
  const say = (): string[] => {
    lines.length = 0
    for (const one of [log, metrics, tracing]) {
      one.debug('debug')
      one.trace('trace')
    }
    return [...lines]
  }
  t.strictSame(say(), ['DEBUG debug module=metrics'])
  verbosity.set(6)
  t.strictSame([verbosity.v, verbosity.of('metrics'), verbosity.of('request-log')], [6, 6, 6])
  t.strictSame(say(), [
    'DEBUG debug', 'TRACE trace', 'DEBUG debug module=metrics', 'TRACE trace module=metrics',
    'DEBUG debug module=tracing', 'TRACE trace module=tracing'
  ])
  verbosity.set(0)
  t.strictSame(say(), ['DEBUG debug module=metrics'])
  t.strictSame([verbosity.of('metrics'), verbosity.of('request-log')], [4, 0])
})
