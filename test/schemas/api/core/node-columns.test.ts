import t from 'tap'
import { fieldValues, parseFieldSelector } from '../../../../schemas/selectors/fields.js'
import { nodes } from '../../../../schemas/api/core/nodes.js'
import { made, cellsOf, LATER } from '../cells.js'

const nodeInfo = {
  kubeletVersion: 'v1.24.0',
  osImage: 'Debian GNU/Linux 11 (bullseye)',
  kernelVersion: '5.10.0-13-amd64',
  containerRuntimeVersion: 'containerd://1.6.4'
}
const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' }
const addresses = [
  { type: 'Hostname', address: 'node-1' }, { type: 'InternalIP', address: '10.0.0.5' },
  { type: 'InternalIP', address: 'fd00::5' }
]

t.test('a node that runs pods', async t => {
  const labels = {
    'node-role.orch.io/worker': '',
    'node-role.orch.io/control-plane': '',
    'node-role.orch.io/': '',
    'orch.io/role': 'gpu',
    'orch.io/os': 'linux'
  }
  t.same(cellsOf(nodes, {
    metadata: { name: 'node-1', labels },
    status: { nodeInfo, addresses, conditions: [{ type: 'MemoryPressure', status: 'False' }, ready] }
  }), {
    Name: 'node-1', Status: 'Ready', Roles: 'control-plane,gpu,worker', Age: '24h', Version: 'v1.24.0',
    'Internal-IP': '10.0.0.5', 'External-IP': '<none>', 'OS-Image': 'Debian GNU/Linux 11 (bullseye)',
    'Kernel-Version': '5.10.0-13-amd64', 'Container-Runtime': 'containerd://1.6.4'
  })
})

t.test('a node without a status', async t => {
  t.same(cellsOf(nodes, { metadata: { name: 'node-2' } }), {
    Name: 'node-2', Status: 'Unknown', Roles: '<none>', Age: '24h', Version: '',
    'Internal-IP': '<none>', 'External-IP': '<none>', 'OS-Image': '<unknown>', 'Kernel-Version': '<unknown>',
    'Container-Runtime': '<unknown>'
  })
})

t.test('1.36 tells the architecture with the kernel', async t => {
  const cellOf = (info: object, ...gates: [typeof LATER] | []) => cellsOf(
    nodes, { status: { nodeInfo: { ...nodeInfo, ...info } } }, ...gates
  )['Kernel-Version']
  t.equal(cellOf({ architecture: 'arm64' }, LATER), '5.10.0-13-amd64 (arm64)')
  t.equal(cellOf({}, LATER), '5.10.0-13-amd64')
  t.equal(cellOf({ architecture: 'arm64' }), '5.10.0-13-amd64')
})

t.test('a node that is cordoned, one that is ill, one that has an address outside', async t => {
  t.hasStrict(cellsOf(nodes, { spec: { unschedulable: true }, status: { conditions: [ready] } }), {
    Status: 'Ready,SchedulingDisabled'
  })
  t.hasStrict(
    cellsOf(nodes, { status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] } }),
    { Status: 'NotReady' }
  )
  t.hasStrict(
    cellsOf(nodes, { status: { addresses: [...addresses, { type: 'ExternalIP', address: '203.0.113.9' }] } }),
    { 'External-IP': '203.0.113.9' }
  )
})

t.test('of repeated conditions the last one counts', async t => {
  t.hasStrict(
    cellsOf(nodes, { status: { conditions: [ready, { ...ready, status: 'False' }] } }), { Status: 'NotReady' }
  )
})

t.test('nodes can be selected by whether they are cordoned, and not by a namespace', async t => {
  const matches = (spec: object) => parseFieldSelector('spec.unschedulable=true', nodes.stored).matches(fieldValues(
    nodes.stored, made(nodes.stored, { spec })
  ))
  t.ok(matches({ unschedulable: true }))
  t.notOk(matches({}))
  t.ok(parseFieldSelector('spec.unschedulable=false', nodes.stored).matches(fieldValues(
    nodes.stored, made(nodes.stored, {})
  )))
  t.throws(
    () => parseFieldSelector('metadata.namespace=x', nodes.stored),
    { message: 'field label not supported: metadata.namespace' }
  )
})
