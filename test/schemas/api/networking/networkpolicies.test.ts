import t from 'tap'
import { creates, served, updates } from '../rules.js'

const policies = served('networking.orch.io/v1', 'networkpolicies')
const port = (one: object) => ({ spec: { ingress: [{ ports: [one] }] } })
const peer = (one: object) => ({ spec: { egress: [{ to: [one] }] } })
const block = (cidr: string, ...except: string[]) => peer({ ipBlock: { cidr, except } })
const VALID = {
  spec: {
    podSelector: { matchLabels: { app: 'web' } }, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }]
  }
}
const PORT = 'spec.ingress[0].ports[0]'
const PEER = 'spec.egress[0].to[0]'

creates(t, policies, VALID, [
  [
    'a bad selector', { spec: { podSelector: { matchLabels: { 'a b': 'c' } } } }, 'Invalid spec.podSelector.matchLabels'
  ],
  [
    'a selector without values', { spec: { podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
    'Required spec.podSelector.matchExpressions[0].values'
  ],
  ['a port by name', port({ port: 'http' })],
  ['port 0', port({ port: 0 }), `Invalid ${PORT}.port`],
  ['port 65536', port({ port: 65536 }), `Invalid ${PORT}.port`],
  ['a name that is none', port({ port: 'a_b' }), `Invalid ${PORT}.port`],
  ['an unknown protocol', port({ protocol: 'ICMP' }), `NotSupported ${PORT}.protocol`],
  ['a range of ports', port({ port: 80, endPort: 90 })],
  ['one that ends before it begins', port({ port: 80, endPort: 79 }), `Invalid ${PORT}.endPort`],
  ['one that ends beyond the last', port({ port: 80, endPort: 65536 }), `Invalid ${PORT}.endPort`],
  ['one without a beginning', port({ endPort: 79 }), `Invalid ${PORT}.endPort`],
  ['one that begins with a name', port({ port: 'http', endPort: 79 }), `Invalid ${PORT}.endPort`],
  ['a peer of nobody', peer({}), `Required ${PEER}`],
  ['pods of namespaces', peer({ podSelector: {}, namespaceSelector: {} })],
  ['bad selectors', peer({
    podSelector: { matchLabels: { a: '-' } }, namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] }
  }),
    `Invalid ${PEER}.podSelector.matchLabels`, `Invalid ${PEER}.namespaceSelector.matchExpressions[0].operator`],
  ['addresses', block('10.0.0.0/8', '10.1.0.0/16')],
  ['of IPv6', block('2001:db8::/32', '2001:db8:1::/48')],
  ['and pods', peer({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }), `Forbidden ${PEER}`],
  ['no range', block(''), `Required ${PEER}.ipBlock.cidr`],
  ['an address', block('10.0.0.1'), `Invalid ${PEER}.ipBlock.cidr`],
  ['an exception that is no range', block('10.0.0.0/8', 'x'), `Invalid ${PEER}.ipBlock.except[0]`],
  ['more after it', block('10.0.0.0/8', 'x', 'y'), `Invalid ${PEER}.ipBlock.except[0]`],
  ['an exception outside', block('10.0.0.0/8', '11.0.0.0/16'), `Invalid ${PEER}.ipBlock.except[0]`],
  ['one of another family', block('10.0.0.0/8', '2001:db8::/48'), `Invalid ${PEER}.ipBlock.except[0]`],
  ['an exception of all', block('10.0.0.0/8', '10.0.0.0/8'), `Invalid ${PEER}.ipBlock.except[0]`],
  [
    'more than there are, one of them unknown', { spec: { policyTypes: ['Ingress', 'Egress', 'Sideways'] } },
    'Invalid spec.policyTypes'
  ],
  ['an unknown direction', { spec: { policyTypes: ['Ingress', 'Sideways'] } }, 'NotSupported spec.policyTypes[1]'],
  ['three directions', { spec: { policyTypes: ['Ingress', 'Egress', 'Ingress'] } }, 'Invalid spec.policyTypes']
])
updates(t, policies, VALID, [
  ['everything may change, to what is right', {}, port({ port: 0 }), `Invalid ${PORT}.port`]
])
