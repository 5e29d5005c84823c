import t from 'tap'
import { ownBytes } from '../../../storage/bytes.js'
import { Entry } from '../../../storage/cache/entry.js'
import { Forms } from '../../../storage/cache/forms.js'
import { keptForms, limitForms, sweep } from '../../../storage/cache/forms-budget.js'

const SPANS_TO_IDLE = 7

/** A type with as many present entries. */
class Type {
  readonly entries: Entry[]
  readonly forms: Forms

  constructor (name: string, count: number, size = 10) {
    this.entries = Array.from(
      { length: count },
      () => new Entry('k', 1, ownBytes(JSON.stringify({ metadata: {}, text: 'x'.repeat(size) })), undefined, [])
    )
    this.forms = new Forms(name, () => [this.entries])
    for (const one of this.entries) one.enter(this.forms)
  }

  /** Asks for a form of all. @returns how many were made */
  list (form: string, bytes = 1000): number {
    let made = 0
    for (const one of this.entries) {
      one.derive(form, () => {
        made++
        return Buffer.alloc(bytes)
      })
    }
    return made
  }
}

t.beforeEach(() => { limitForms({ bytes: 1_000_000 }) })

t.afterEach(() => {
  for (let span = 0; span < SPANS_TO_IDLE; span++) sweep()
  t.equal(keptForms().bytes, 0, 'what nobody asks for is dropped')
})

t.test('a form is made once of an entry while somebody asks for it', async t => {
  const pods = new Type('pods', 3)
  t.equal(pods.list('protobuf'), 3)
  for (let span = 0; span < 2 * SPANS_TO_IDLE; span++) {
    t.equal(pods.list('protobuf'), 0)
    sweep()
  }
  t.equal(pods.entries[0]?.object, pods.entries[0]?.object, 'and so is the parsed object')
  for (let span = 0; span < 2 * SPANS_TO_IDLE; span++) {
    t.ok(pods.entries[0]?.known('protobuf'), 'whoever looks whether it is kept asks for it')
    sweep()
  }
})

t.test('an entry that a newer state has replaced keeps nothing', async t => {
  const pods = new Type('pods', 1)
  const [pod] = pods.entries
  pods.list('protobuf')
  const { bytes } = keptForms()
  t.ok(bytes >= 1000)
  pod?.leave(new Type('nodes', 0).forms)
  t.equal(keptForms().bytes, bytes, 'only that of its own type')
  pod?.leave(pods.forms)
  t.equal(keptForms().bytes, 0)
  t.equal(pods.list('protobuf'), 1, 'it is still made of it')
  t.equal(keptForms().bytes, 0)
})

t.test('when memory is short, the whole form that was asked for least goes', async t => {
  const [pods, nodes] = [new Type('pods', 300), new Type('nodes', 300)]
  pods.list('protobuf')
  nodes.list('protobuf')
  for (let time = 0; time < 3; time++) nodes.list('protobuf')
  for (let time = 0; time < 3; time++) nodes.list('rows', 1200)
  sweep()
  nodes.list('rows', 1200)
  t.ok(keptForms().bytes <= 1_000_000)
  t.equal(nodes.list('protobuf'), 0)
  t.equal(nodes.list('rows', 1200), 0)
  t.equal(pods.list('protobuf'), 300, 'nothing of the third is left')
})

t.test('a form for which there is no room is made and not kept, until there is', async t => {
  const pods = new Type('pods', 300)
  for (let time = 0; time < 4; time++) pods.list('protobuf', 2500)
  t.equal(pods.list('rows', 1500), 300)
  t.equal(pods.list('rows', 1500), 300)
  t.equal(pods.list('protobuf', 2500), 0, 'those in use are not dropped for it')
  for (let span = 0; span < SPANS_TO_IDLE; span++) sweep()
  t.equal(pods.list('rows', 1500), 300)
  t.equal(pods.list('rows', 1500), 0)
})

t.test('entries free what they kept of a form that was dropped', async t => {
  const pods = new Type('pods', 10)
  pods.list('protobuf')
  limitForms({ bytes: 0 })
  t.equal(keptForms().bytes, 0)
  await new Promise(resolve => { setImmediate(resolve) })
  t.equal(pods.entries[0]?.known('protobuf'), undefined)
})

t.test('a copy keeps nothing, and is no other\'s', async t => {
  const [one] = new Type('pods', 1).entries
  t.same(one?.copy().metadata, {})
  t.equal(keptForms().bytes, 0)
  t.not(one?.copy(), one?.object)
})
