/** Forms of IP addresses and ranges where release 1.36 is emulated. */
import t from 'tap'
import { ambiguity, canonicalForm } from '../../schemas/rules/address-forms.js'
import { build, type Json } from '../build.js'

t.test('each address has one usual form', t => {
  const forms: ReadonlyArray<readonly [string, string | undefined]> = [
    ['1.2.3.4', undefined], ['2001:db8::1', undefined], ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'], ['::', undefined], ['::1', undefined],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'], ['1:0:2:3:4:5:6:7', undefined], ['0:0:0:0:0:0:0:0', '::'], ['1::0', '1::'],
    ['nonsense', undefined]
  ]
  for (const [text, form] of forms) t.equal(canonicalForm(text, 'ip'), form, text)
  t.equal(canonicalForm('2001:DB8::/032', 'cidr'), '2001:db8::/32')
  t.end()
})

t.test('what programs read differently is found', t => {
  t.match([ambiguity('010.0.0.1', 'ip'), ambiguity('10.0.0.01', 'ip')], [/leading 0s/, /leading 0s/])
  t.match(
    [ambiguity('::ffff:1.2.3.4', 'ip'), ambiguity('0:0:0:0:0:FFFF:102:304', 'ip')], [/IPv4-mapped/, /IPv4-mapped/]
  )
  t.match(
    [ambiguity('10.0.0.1/24', 'cidr'), ambiguity('2001:db8::1/64', 'cidr')], [/beyond the prefix/, /beyond the prefix/]
  )
  t.same(
    [
      ambiguity('10.0.0.0', 'ip'), ambiguity('0.0.0.0/0', 'cidr'), ambiguity('::/0', 'cidr'),
      ambiguity('10.0.0.1/32', 'cidr'), ambiguity('x', 'ip')
    ],
    Array.from({ length: 5 })
  )
  t.end()
})

const SERVICES = '/api/v1/namespaces/default/services'
const service = (name: string, externalIPs: string[]): Json => ({
  metadata: { name }, spec: { ports: [{ port: 80 }], externalIPs }
})
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field)}`
  )

t.test('new ones are refused, unusual ones warned of, and what stands is forgiven', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const earlier = await build(t, { storage })
  t.equal((await earlier.post(SERVICES, service('old', ['010.1.1.1']))).code, 201)
  await earlier.app.close()
  const server = await build(t, { storage, emulatedVersion: '1.36' })
  t.same(
    causes(await server.post(SERVICES, service('new', ['10.1.1.1', '010.1.1.1', '::ffff:10.0.0.1']))),
    ['Invalid spec.externalIPs[1]', 'Invalid spec.externalIPs[2]']
  )
  const warned = await server.post(SERVICES, service('odd', ['2001:DB8::1']))
  t.equal(warned.code, 201)
  t.match(warned.headers['warning'], [
    /spec\.externalIPs\[0\]: IPv6 address \\"2001:DB8::1\\" should be in RFC 5952 canonical format \(\\"2001:db8::1\\"\)/
  ])
  const kept = await server.patch(
    `${SERVICES}/old`, { spec: { externalIPs: ['10.2.2.2', '010.1.1.1'] } }, 'application/merge-patch+json'
  )
  t.equal(kept.code, 200, kept.body)
  t.same(
    causes(await server.patch(
      `${SERVICES}/old`, { spec: { externalIPs: ['010.3.3.3'] } }, 'application/merge-patch+json'
    )),
    ['Invalid spec.externalIPs[0]']
  )
  t.same(causes(await server.post('/apis/networking.orch.io/v1/namespaces/default/networkpolicies', {
    metadata: { name: 'a' },
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.1/8', except: ['10.1.0.1/16'] } }] }] }
  })),
  ['Invalid spec.ingress[0].from[0].ipBlock.cidr', 'Invalid spec.ingress[0].from[0].ipBlock.except[0]'])
})

t.test('ranges of clients, of either place', async t => {
  const ANNOTATION = 'service.beta.orch.io/load-balancer-source-ranges'
  const RANGES = '10.0.0.1/8, 010.1.0.0/16,10.2.0.0/16'
  const balancer = (name: string, annotations: Json, spec: Json = {}): Json => ({
    metadata: { name, annotations }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec }
  })
  const inField = balancer('field', {}, { loadBalancerSourceRanges: RANGES.split(',') })
  const annotated = balancer('annotation', { [ANNOTATION]: RANGES })
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const earlier = await build(t, { storage })
  for (const sent of [inField, annotated]) t.equal((await earlier.post(SERVICES, sent)).code, 201)
  await earlier.app.close()
  const server = await build(t, { storage, emulatedVersion: '1.36' })
  t.same(causes(await server.post(SERVICES, { ...inField, metadata: { name: 'new' } })), [
    'Invalid spec.LoadBalancerSourceRanges[0]', 'Invalid spec.LoadBalancerSourceRanges[1]'
  ])
  t.same(
    causes(await server.post(SERVICES, { ...annotated, metadata: { ...annotated['metadata'], name: 'new' } })),
    [`Invalid metadata.annotations[${ANNOTATION}]`, `Invalid metadata.annotations[${ANNOTATION}]`]
  )
  for (const name of ['field', 'annotation']) {
    t.equal(
      (await server.patch(`${SERVICES}/${name}`, { metadata: { labels: { a: 'b' } } })).code, 200,
      `${name}: what stands is forgiven`
    )
  }
})

t.test('exceptions after one that is no range are validated too', async t => {
  const answer = async (release: '1.24' | '1.36') => {
    const { post } = await build(t, { emulatedVersion: release })
    return causes(await post(
      '/apis/networking.orch.io/v1/namespaces/default/networkpolicies',
      {
        metadata: { name: 'a' },
        spec: {
          podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['x', '11.0.0.0/16'] } }] }]
        }
      }
    ))
  }
  t.same(await answer('1.24'), ['Invalid spec.ingress[0].from[0].ipBlock.except[0]'])
  t.same(
    await answer('1.36'),
    ['Invalid spec.ingress[0].from[0].ipBlock.except[0]', 'Invalid spec.ingress[0].from[0].ipBlock.except[1]']
  )
})

t.test('an ingress names services that begin with a digit, and its class twice', async t => {
  const url = '/apis/networking.orch.io/v1/namespaces/default/ingresses'
  const ingress = (service: string, annotated: string): Json => ({
    metadata: {
      name: 'i', annotations: { 'orch.io/ingress.class': annotated }
    }, spec: { ingressClassName: 'a', defaultBackend: { service: { name: service, port: { number: 80 } } } }
  })
  const [later, earlier] = [await build(t, { emulatedVersion: '1.36' }), await build(t)]
  t.same(
    causes(await later.post(url, ingress('A', 'b'))).toSorted(),
    ['Invalid annotations.orch.io/ingress.class', 'Invalid spec.defaultBackend.service.name']
  )
  t.same(
    causes(await earlier.post(url, ingress('1a', 'a'))).toSorted(),
    ['Invalid annotations.orch.io/ingress.class', 'Invalid spec.defaultBackend.service.name']
  )
  t.equal((await later.post(url, ingress('1a', 'a'))).code, 201)
})
