import t from 'tap'
import { Collections } from '../../../serving/processes/collections.js'
import type { Command } from '../../../serving/processes/messages.js'
import { merged } from '../../../plugins/metrics/merged.js'
import { finish } from '../../../schemas/steps.js'

const textOf = (count: number): Uint8Array => Buffer.from(
  `# HELP a_total A.\n# TYPE a_total counter\na_total ${count}\n# HELP g G.\n# TYPE g gauge\ng ${count}\n# HELP s ` +
  `S.\n# TYPE s summary\ns{quantile="0.5"} ${count}\ns_sum ${count}\n`
)

class Process {
  readonly name: string
  serving = true
  count = 0
  /** The last collection request that it received. */
  asked = 0
  collected: Extract<Command, { readonly kind: 'collected' }> | undefined

  constructor (name: string) { this.name = name }

  send (command: Command): void {
    if (command.kind === 'collect') this.asked = command.request
    if (command.kind === 'collected') this.collected = command
  }

  answer (collections: Collections): void { collections.add(this, this.asked, textOf(this.count)) }

  /** This process's response to a scrape. */
  lines (): string[] {
    if (this.collected === undefined) throw new Error('nothing was collected')
    return finish(merged([{ process: this.name, text: textOf(this.count) }, ...this.collected.expositions]))
      .toString()
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
  }
}

t.test('summed counters do not decrease when a process ends, in a scrape of any process', t => {
  const [one, two, three] = [new Process('1'), new Process('2'), new Process('3')]
  let all = [one, two, three]
  const collections = new Collections(() => all)
  const scrape = (asker: Process): string[] => {
    collections.begin(asker, 1, textOf(asker.count))
    for (const other of all) if (other !== asker) other.answer(collections)
    return asker.lines()
  }
  for (const [at, each] of all.entries()) each.count = 10 ** at
  t.same(scrape(one), [
    'a_total 111', 'g 111', 's{quantile="0.5",process="1"} 1', 's_sum 111', 's{quantile="0.5",process="2"} 10',
    's{quantile="0.5",process="3"} 100'
  ])
  const ends = (process: Process, next: Process): void => {
    all = all.filter(each => each !== process)
    collections.ended(process)
    all.push(next)
  }
  ends(two, new Process('2'))
  ends(one, new Process('1')) // it answered the scrape itself
  for (const asker of all) {
    t.same(scrape(asker).filter(line => /^(?:a_total|g|s_sum) /.test(line)), ['a_total 111', 'g 100', 's_sum 111'])
  }
  t.end()
})

t.test('a process that ends during a collection is counted once, and not waited for', t => {
  const [one, two, three] = [new Process('1'), new Process('2'), new Process('3')]
  const collections = new Collections(() => [one, two, three])
  two.count = 5
  collections.begin(one, 1, textOf(0))
  two.answer(collections)
  collections.ended(two)
  t.equal(one.collected, undefined)
  collections.ended(three)
  t.same(one.lines().slice(0, 2), ['a_total 5', 'g 0'])
  t.end()
})

t.test('the last known counters of a process that does not answer in time count', async t => {
  const [one, two] = [new Process('1'), new Process('2')]
  const collections = new Collections(() => [one, two])
  two.count = 5
  collections.begin(one, 1, textOf(0))
  two.answer(collections)
  one.collected = undefined
  collections.begin(one, 2, textOf(0))
  while (one.collected === undefined) await new Promise(resolve => { setTimeout(resolve, 20) })
  t.same(one.lines().slice(0, 2), ['a_total 5', 'g 0'])
})
