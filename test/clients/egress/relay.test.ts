/** Folders of relays, in a temporary folder that other servers use too. */
import t, { type Test } from 'tap'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRelay, type Relay } from '../../../clients/egress/relay.js'

const open = async (): Promise<Relay> => await openRelay(
  async () => { throw new Error('nothing is connected here') },
  { host: 'localhost', port: 1, timeout: 1, call: 'test' }, () => {}
)

/** The temporary folder of this process while the test runs. */
function temporary (t: Test, prefix: string): string {
  const before = process.env['TMPDIR']
  const folder = mkdtempSync(join(tmpdir(), prefix))
  process.env['TMPDIR'] = folder
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(folder, { recursive: true })
  })
  return folder
}

t.test('a relay removes its folder, and those of servers that were killed, and no other', async t => {
  const folder = temporary(t, 'orch-relays-')
  const dead = join(folder, 'orch-egress-dead')
  mkdirSync(dead)
  spawnSync(process.execPath, [
    '-e',
    `require('net').createServer().listen(${JSON.stringify(join(dead, 'socket'))}, ` +
    "() => process.kill(process.pid, 'SIGKILL'))"
  ])
  t.ok(existsSync(join(dead, 'socket')), 'a killed server leaves its socket')
  mkdirSync(join(folder, 'orch-egress-being-made'))

  const one = await open()
  t.notOk(existsSync(dead))
  const two = await open()
  t.ok(existsSync(one.path), 'that of a living server stays')
  t.ok(existsSync(join(folder, 'orch-egress-being-made')))
  one.close()
  two.close()
  t.same(readdirSync(folder), ['orch-egress-being-made'])
})

t.test('a socket path that the system would truncate is refused', async t => {
  const folder = temporary(t, `orch-${'x'.repeat(100)}-`)
  await t.rejects(open(), /TMPDIR/)
  t.same(readdirSync(folder), [])
})
