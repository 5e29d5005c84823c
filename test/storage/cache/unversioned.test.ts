/** JSON that is encoded before its resourceVersion is known. */
import t from 'tap'
import { UnversionedJson } from '../../../storage/cache/unversioned.js'

const head = '{"metadata":{"name":"ä-😀",'
const tail = ',"creationTimestamp":null},"data":{"k":"ö"}}'
const whole = (revision: number | string): string => `${head}"resourceVersion":"${revision}"${tail}\n`

t.test('it becomes the JSON of any revision, however many digits it had room for', async t => {
  for (const order of [[7, 8, 7], [9, 10, 9], [123_456_789, 1], [Number.MAX_SAFE_INTEGER, 42]]) {
    const json = new UnversionedJson({ head, tail })
    const made = order.map(revision => json.at(revision))
    t.strictSame(made.map(String), order.map(whole))
    t.strictSame(made.map(String), order.map(whole), 'and earlier results are unchanged')
    t.equal(new Set(made.map(({ buffer }) => buffer)).size, made.length, 'each in memory of its own')
  }
})

t.test('it recognizes the bytes of the same object at any version', async t => {
  for (const room of [7, 123_456]) {
    new UnversionedJson({ head, tail }).at(room) // the next has room for as much
    const json = new UnversionedJson({ head, tail })
    for (const revision of [1, 12, 123_456, Number.MAX_SAFE_INTEGER]) {
      t.ok(json.isOf(Buffer.from(whole(revision)), revision))
    }
    t.notOk(json.isOf(Buffer.from(whole(12).replace('ä', 'ü')), 12), 'another head')
    t.notOk(json.isOf(Buffer.from(whole(12).replace('ö', 'ü')), 12), 'another tail')
    t.notOk(json.isOf(Buffer.from(whole(12).replace('"k"', '"kk"')), 12), 'more of it')
    t.notOk(json.isOf(Buffer.from(whole(12).replace('"k"', '""')), 12), 'less of it')
    t.notOk(json.isOf(Buffer.from('{}\n'), 12))
    t.notOk(json.isOf(Buffer.alloc(0), 12))
  }
})
