import t from 'tap'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkedFlags, configuration } from '../../config/options.js'
import { authority } from '../serving/authority.js'

t.test('flags configure connections to node agents, and their files are read at the start', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-node-agents-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const file = (name: string): string => join(folder, name)
  const own = authority()
  const pair = own.issue({ commonName: 'c', uses: ['client'] })
  for (const [name, content] of Object.entries({
    'ca.crt': own.certificate, 'tls.crt': pair.certificate, 'tls.key': pair.key, empty: ''
  })) {
    writeFileSync(file(name), content)
  }
  const made = (...flags: string[]) => configuration(checkedFlags([`--data-dir=${file('data')}`, ...flags]))
  t.match((await made()).options.connections, {
    nodeAgents: {
      files: {},
      preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
      timeout: 5000
    }
  })
  const pairFlags = [`--node-agent-client-certificate=${file('tls.crt')}`, `--node-agent-client-key=${file('tls.key')}`]
  const { options, warnings } = await made(
    `--node-agent-certificate-authority=${file('ca.crt')}`, ...pairFlags,
    '--node-agent-preferred-address-types=InternalIP,ExternalIP', '--node-agent-timeout=2s'
  )
  t.match(options.connections, {
    nodeAgents: {
      files: { authority: file('ca.crt'), certificate: file('tls.crt'), key: file('tls.key') },
      preferredAddressTypes: ['InternalIP', 'ExternalIP'],
      timeout: 2000
    }
  })
  t.notOk(warnings.some(warning => warning.includes('node-agent')))
  t.ok((await made(...pairFlags)).warnings.some(warning =>
    /^--node-agent-client-certificate is given without --node-agent-certificate-authority: /.test(warning)))
  await t.rejects(made(`--node-agent-certificate-authority=${file('gone')}`), {
    message: /--node-agent-certificate-authority.*there is no such file/
  })
  await t.rejects(made(`--node-agent-certificate-authority=${file('empty')}`), {
    message: /--node-agent-certificate-authority.*no CERTIFICATE block/
  })
  await t.rejects(
    made(`--node-agent-client-certificate=${file('ca.crt')}`, `--node-agent-client-key=${file('tls.key')}`),
    { message: /--node-agent-client-key.*does not belong/ }
  )
  t.throws(
    () => checkedFlags(['--node-agent-client-key=x']), { message: /needs --node-agent-client-certificate beside it/ }
  )
  t.throws(
    () => checkedFlags(['--node-agent-preferred-address-types=Pigeon']),
    { message: /--node-agent-preferred-address-types/ }
  )
})
