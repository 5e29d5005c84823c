import t from 'tap'
import { parse } from 'yaml'
import { toYaml } from '../../../../schemas/codec/yaml/yaml-write.js'
import { parseYaml } from '../../../../schemas/codec/yaml/yaml.js'
import { random } from '../../../random.js'

const dice = random()
const CHARACTERS = [
  'a', 'b', ' ', '\n', ':', '#', '-', '\t', '"', "'", '\\', '{', '[', '*', '&', '!', '|', '>', '%', '@', '`', '1', '.',
  '/', 'é', '\u{1f600}', '\u0085', '\u2028', '\ufeff', '\0', '\x7f', 'y', '~', ',', '?', '=', '<', '\r', '_', '\uffff'
]
const TEXTS = [
  'yes', 'No', 'y', 'N', 'On', 'OFF', 'yEs', '0400', '08', '0b11', '-_1', '1__0', '-0x1F', '!!int 1', 'null', '~', '',
  'true', '1e3', '0x1f', '1_000', '2021-01-01', '12:30', 'a: b', 'a #b', '---', '...', '--- a\nb', '<<', '=', '.inf',
  'NaN', 'x'.repeat(2000), 'a\nb', 'a\n\nb\n', 'a\n b', ' a\nb', 'a\n', '\na', 'a \nb ', 'system:node', 'a\n---\nb',
  'a\n\n', '0o17', '+1', '-', '- a', '? a', 'on', 'a\n\t', '1.5', '_1', 'a  b', 'a\n   \nb', 'a\n   '
]

const pick = <T>(values: readonly T[]): T => values[dice.int(values.length)] as T // the index is within
const text = (): string =>
  dice.int(3) === 0 ? pick(TEXTS) : Array.from({ length: dice.int(8) }, () => pick(CHARACTERS)).join('')

function value (depth: number): unknown {
  switch (depth > 4 ? 0 : dice.int(5)) {
    case 0: return text()
    case 1: return Array.from({ length: dice.int(4) }, () => value(depth + 1))
    case 2: case 3: return Object.fromEntries(Array.from({ length: dice.int(4) }, () => [text(), value(depth + 1)]))
    default: return pick([null, true, false, 0, -1, 1.5, 123_456_789])
  }
}

t.test('written YAML is read back unchanged, by YAML 1.2 and by 1.1', async t => {
  t.comment(`seed ${dice.seed}`)
  let agreed = 0
  for (let run = 0; run < 3000; run++) {
    const before = value(0)
    const written = toYaml(before)
    const wanted = JSON.stringify(before)
    const now = JSON.stringify(parseYaml(Buffer.from(written)).value)
    const older = JSON.stringify(parse(written, { version: '1.1', uniqueKeys: false, logLevel: 'error' }))
    if (now === wanted && older === wanted) agreed++
    else t.fail(`${wanted}\n${written}\n${now === wanted ? older : now}`)
  }
  t.equal(agreed, 3000)
})

t.test('the layout is the usual one', async t => {
  t.equal(toYaml({
    kind: 'ConfigMap',
    metadata: { name: 'system:a', labels: {} },
    list: [{ a: 1, b: ['x'] }, []],
    script: '#!/bin/sh\necho hello\n',
    yes: 'yes'
  }),
  'kind: ConfigMap\nmetadata:\n  name: system:a\n  labels: {}\nlist:\n- a: 1\n  b:\n  - x\n- []\nscript: |\n' +
  '  #!/bin/sh\n  echo hello\n"yes": "yes"\n')
  t.equal(toYaml('text'), 'text\n')
  t.equal(toYaml({}), '{}\n')
})
