/** `orch-apiserver completion bash` and `orch-apiserver man`, of the declarations of all flags. */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { printed } from '../../../config/commands/printed.js'
import { COMMANDS } from '../../../config/command-line.js'
import { FLAGS } from '../../../config/flags/index.js'

const script = await printed('completion', ['bash'])

/** What bash offers for the last word, as it splits them. */
const offers = (...words: string[]): string[] => execFileSync('bash', ['-euc', `${script}
COMP_WORDS=(orch-apiserver ${words.map(word => `'${word}'`).join(' ')})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_orch_apiserver || true
printf '%s\\n' "\${COMPREPLY[@]-}"`], { encoding: 'utf8' }).trim().split('\n').filter(Boolean)

t.test('the shell completes flags, commands and values', async t => {
  t.strictSame(offers('--logging-f'), ['--logging-format'])
  t.strictSame(offers('--').length, Object.keys(FLAGS).length)
  t.strictSame(offers('--logging-format', '=', 'j'), ['json'])
  t.strictSame(offers('--logging-format', '='), ['text', 'json'])
  t.strictSame(offers('--logging-format', 't'), ['text'])
  t.strictSame(offers('--local', '=', ''), ['true', 'false'])
  t.strictSame(offers('--local', '--compat'), ['--compat-names'], 'a bare bool takes no word')
  t.strictSame(
    offers('--data-dir', '=', '/etc/host').sort(),
    execFileSync('bash', ['-c', 'compgen -f -- /etc/host'], { encoding: 'utf8' }).trim().split('\n').sort()
  )
  t.strictSame(offers('').sort(), [...COMMANDS].sort())
  t.strictSame(offers('--local', ''), [], 'commands come first')
  t.strictSame(offers('dev', '--fix'), ['--fixtures'], 'a command has flags of its own')
  t.strictSame(offers('dev', '--etcd'), [], 'and not those of the server')
  t.strictSame(offers('migrate', '--data-dir', 'x', '--fr'), ['--from'])
  t.strictSame(offers('fsck', '--').sort(), ['--data-dir', '--help'])
  t.strictSame(offers('completion', ''), ['bash'])
})

t.test('the manual page has every flag and command, and no text that roff would take for a request', async t => {
  const page = await printed('man', [])
  for (const name of Object.keys(FLAGS)) t.match(page, `\\fB\\-\\-${name.replaceAll('-', '\\-')}\\fR`, name)
  for (const name of COMMANDS) t.match(page, `\\fB${name}`, name)
  t.strictSame([...new Set(page.match(/^[.'].{0,3}/gm))].map(request => request.trim()).sort(), [
    '.PP', '.SH', '.SS', '.TH', '.TP'
  ])
  t.notMatch(page, /[^\\]-/, 'a dash that could be a hyphen')
})

t.test('other arguments are refused', async t => {
  await t.rejects(
    printed('completion', ['fish']),
    {
      message:
        'unexpected argument "fish": the script is for bash; ' +
        'zsh reads it after `autoload -U bashcompinit && bashcompinit`'
    }
  )
  await t.rejects(printed('completion', ['bash', 'x']), /unexpected argument "x"/)
  await t.rejects(printed('man', ['x']), { message: 'unexpected argument "x": man takes none' })
})
