import t from 'tap'
import { endpointSlices } from '../../../../schemas/api/discovery/endpointslices.js'
import { ingressClasses } from '../../../../schemas/api/networking/ingressclasses.js'
import { ingresses } from '../../../../schemas/api/networking/ingresses.js'
import { networkPolicies } from '../../../../schemas/api/networking/networkpolicies.js'
import { cellsOf } from '../cells.js'

const rules = (...hosts: string[]) => hosts.map(host => ({ host }))

t.test('an ingress', async t => {
  const status = {
    loadBalancer: { ingress: [{ hostname: 'lb.example' }, { ip: '203.0.113.7' }, { ip: '203.0.113.7' }] }
  }
  t.same(cellsOf(ingresses, {
    spec: { ingressClassName: 'nginx', tls: [{ secretName: 'cert' }], rules: rules('a.example', 'b.example') }, status
  }),
  {
    Name: 'web',
    Class: 'nginx',
    Hosts: 'a.example,b.example',
    Address: '203.0.113.7,lb.example',
    Ports: '80, 443',
    Age: '24h'
  })
  t.same(
    cellsOf(ingresses, { spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } }),
    { Name: 'web', Class: '<none>', Hosts: '*', Address: '', Ports: '80', Age: '24h' }
  )
})

t.test('three hosts of an ingress are listed, and the rest counted', async t => {
  const hosts = (...names: string[]) => cellsOf(ingresses, { spec: { rules: rules(...names) } })['Hosts']
  t.equal(hosts('a', 'b', 'c'), 'a,b,c')
  t.equal(hosts('a', 'b', 'c', 'd', 'e'), 'a,b,c + 2 more...')
  t.equal(hosts('', 'a', 'b', ''), 'a,b', 'rules for any host have none to show')
  t.equal(hosts('', 'a', 'b', 'c'), 'a,b,c')
  t.equal(hosts('', 'a', 'b', 'c', 'd'), 'a,b,c + 2 more...', 'yet they are counted')
  t.equal(hosts(''), '*')
})

t.test('an ingress class', async t => {
  const spec = { controller: 'example.com/ingress' }
  t.same(cellsOf(ingressClasses, { metadata: { name: 'nginx' }, spec }), {
    Name: 'nginx', Controller: 'example.com/ingress', Parameters: '<none>', Age: '24h'
  })
  t.hasStrict(
    cellsOf(ingressClasses, {
      spec: { ...spec, parameters: { apiGroup: 'example.com', kind: 'Settings', name: 'outside' } }
    }),
    { Parameters: 'Settings.example.com/outside' }
  )
  t.hasStrict(
    cellsOf(ingressClasses, { spec: { ...spec, parameters: { kind: 'ConfigMap', name: 'outside' } } }),
    { Parameters: 'ConfigMap/outside' }
  )
})

t.test('a network policy has a column for its pod selector', async t => {
  const policy = (podSelector: object) => cellsOf(networkPolicies, { spec: { podSelector } })
  t.same(policy({ matchLabels: { app: 'web' } }), { Name: 'web', 'Pod-Selector': 'app=web', Age: '24h' })
  t.hasStrict(policy({}), { 'Pod-Selector': '<none>' })
  t.hasStrict(policy({
    matchLabels: { z: '1', a: '2' },
    matchExpressions: [
      { key: 'm', operator: 'NotIn', values: ['y', 'x'] },
      { key: 'b', operator: 'DoesNotExist' },
      { key: 'c', operator: 'Exists' }
    ]
  }),
  { 'Pod-Selector': 'a=2,!b,c,m notin (x,y),z=1' })
  t.hasStrict(
    policy({ matchExpressions: [{ key: 'a', operator: 'Like', values: ['x'] }] }), { 'Pod-Selector': '<error>' }
  )
  t.hasStrict(
    policy({ matchExpressions: [{ key: 'a', operator: 'In', values: ['x y'] }] }), { 'Pod-Selector': '<error>' },
    'a value no label has'
  )
})

t.test('an endpoint slice, in both versions', async t => {
  for (const representation of endpointSlices.representations) {
    const slice = (ports: object[], ...addresses: string[][]) =>
      cellsOf(representation, { addressType: 'IPv4', ports, endpoints: addresses.map(addresses => ({ addresses })) })
    t.same(slice(
      [{ name: 'http', port: 80 }, { name: 'https', port: 443 }], ['10.1.0.1'], ['10.1.0.2', '10.1.0.3'], ['10.1.0.4']
    ),
    {
      Name: 'web',
      AddressType: 'IPv4',
      Ports: '80,443',
      Endpoints: '10.1.0.1,10.1.0.2,10.1.0.3 + 1 more...',
      Age: '24h'
    },
    representation.apiVersion)
    t.hasStrict(slice([]), { Ports: '<unset>', Endpoints: '<unset>' })
    t.hasStrict(slice([{ name: 'any' }]), { Ports: 'any' })
  }
})
