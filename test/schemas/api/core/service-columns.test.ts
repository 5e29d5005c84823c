import t from 'tap'
import { endpoints } from '../../../../schemas/api/core/endpoints.js'
import { services } from '../../../../schemas/api/core/services.js'
import { cellsOf } from '../cells.js'

const inside = { clusterIP: '10.96.0.10', clusterIPs: ['10.96.0.10'], selector: { tier: 'front', app: 'web' } }
const http = { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }

t.test('a service within the cluster', async t => {
  t.same(cellsOf(services, { spec: { ...inside, ports: [http, { name: 'dns', port: 53, protocol: 'UDP' }] } }), {
    Name: 'web', Type: 'ClusterIP', 'Cluster-IP': '10.96.0.10', 'External-IP': '<none>', 'Port(s)': '80/TCP,53/UDP',
    Age: '24h', Selector: 'app=web,tier=front'
  })
  t.hasStrict(
    cellsOf(services, { spec: { ...inside, ports: [http], externalIPs: ['203.0.113.1', '203.0.113.2'] } }),
    { 'External-IP': '203.0.113.1,203.0.113.2' }
  )
})

t.test('a headless service without ports', async t => {
  t.hasStrict(cellsOf(services, { spec: { clusterIP: 'None', clusterIPs: ['None'] } }), {
    'Cluster-IP': 'None', 'Port(s)': '<none>', Selector: '<none>'
  })
})

t.test('a service on a port of every node', async t => {
  t.hasStrict(
    cellsOf(services, { spec: { ...inside, type: 'NodePort', ports: [{ ...http, nodePort: 30080 }] } }),
    { Type: 'NodePort', 'External-IP': '<none>', 'Port(s)': '80:30080/TCP' }
  )
})

t.test('a service behind a load balancer', async t => {
  const spec = { ...inside, type: 'LoadBalancer', ports: [{ ...http, nodePort: 30080 }] }
  t.hasStrict(cellsOf(services, { spec }), { 'External-IP': '<pending>' })
  const status = {
    loadBalancer: {
      ingress: [{ ip: '203.0.113.7' }, { hostname: 'a.lb.example' }, { ip: '203.0.113.7' }, { ip: '203.0.113.3' }]
    }
  }
  t.hasStrict(cellsOf(services, { spec, status }), {
    Type: 'LoadBalancer', 'External-IP': '203.0.113.3,203.0.113.7,a.lb.example'
  })
  t.hasStrict(cellsOf(services, { spec: { ...spec, externalIPs: ['198.51.100.1'] }, status }), {
    'External-IP': '203.0.113.3,203.0.113.7,a.lb.example,198.51.100.1'
  })
})

t.test('a service that is a name elsewhere', async t => {
  t.hasStrict(cellsOf(services, { spec: { type: 'ExternalName', externalName: 'db.example.com' } }), {
    'Cluster-IP': '<none>', 'External-IP': 'db.example.com'
  })
})

t.test('endpoints are listed with their ports', async t => {
  const addresses = ['10.1.0.1', '10.1.0.2'].map(ip => ({ ip }))
  const cell = (subsets?: object[]) => cellsOf(endpoints, { subsets })['Endpoints']
  t.equal(cell(), '<none>')
  t.equal(cell([{ addresses, ports: [{ port: 80 }] }]), '10.1.0.1:80,10.1.0.2:80')
  t.equal(
    cell([{ addresses, ports: [{ port: 53, protocol: 'UDP' }, { port: 9153 }] }]),
    '10.1.0.1:53,10.1.0.2:53,10.1.0.1:9153 + 1 more...'
  )
  t.equal(cell([{ addresses }]), '10.1.0.1,10.1.0.2', 'of a headless service')
  t.equal(cell([{ addresses: [{ ip: 'fd00::1' }], ports: [{ port: 80 }] }]), '[fd00::1]:80')
  t.equal(cell([{ notReadyAddresses: addresses, ports: [{ port: 80 }] }]), '', 'none is ready')
})
