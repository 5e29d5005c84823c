import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import t from 'tap'
import { CERTIFICATE, REQUEST } from '../../../certificate-requests.js'
import { created, creates, served, updated, updates } from '../rules.js'
import { ownTime } from '../../../own-time.js'

const requests = served('certificates.orch.io/v1', 'certificatesigningrequests')
const spec = (more: object) => ({ spec: more })
const pem = (text: string) => Buffer.from(text).toString('base64')
const VALID = spec({ signerName: 'example.com/signer', usages: ['client auth'], request: REQUEST })
const broken = Buffer.from(REQUEST, 'base64')
  .toString()
  .split('\n')
  .map((line, index) => index === 2 ? line.replace(/^..../, 'AAAA') : line)
  .join('\n')

creates(t, requests, VALID, [
  ['any name', { metadata: { name: 'ann:1 A' } }],
  ['no request', spec({ request: null }), 'Invalid spec.request'],
  ['something else', spec({ request: pem('REQUEST') }), 'Invalid spec.request'],
  ['a certificate', spec({ request: CERTIFICATE }), 'Invalid spec.request'],
  [
    'a block of something else',
    spec({ request: pem('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n') }),
    'Invalid spec.request'
  ],
  ['one that was changed', spec({ request: pem(broken) }), 'Invalid spec.request'],
  ['no usages', spec({ usages: [] }), 'Required spec.usages'],
  ['a usage twice', spec({ usages: ['client auth', 'client auth'] }), 'Duplicate spec.usages[1]'],
  ['an unknown usage', spec({ usages: ['walking'] }), 'NotSupported spec.usages[0]'],
  ['an empty one', spec({ usages: ['client auth', ''] }), 'NotSupported spec.usages[1]'],
  ['no signer', spec({ signerName: null }), 'Required spec.signerName'],
  ['the signer of old', spec({ signerName: 'orch.io/legacy-unknown' }), 'Invalid spec.signerName'],
  ['a signer without a path', spec({ signerName: 'example.com' }), 'Invalid spec.signerName'],
  ['with two', spec({ signerName: 'example.com/a/b' }), 'Invalid spec.signerName'],
  ['of no domain', spec({ signerName: 'example/a' }), 'Invalid spec.signerName'],
  ['of bad names', spec({ signerName: 'Example.com/a_b' }), 'Invalid spec.signerName'],
  ['of a part that is too long', spec({ signerName: `${'a'.repeat(64)}.com/a` }), 'Invalid spec.signerName'],
  ['of a path with a part as long as a name', spec({ signerName: `example.com/${'a'.repeat(253)}.${'b'.repeat(63)}` })],
  ['ten minutes', spec({ expirationSeconds: 600 })],
  ['less', spec({ expirationSeconds: 599 }), 'Invalid spec.expirationSeconds']
])

const approved = { type: 'Approved', status: 'True' }
const conditions = (...list: object[]) => ({ status: { conditions: list } })
const denied = { type: 'Denied', status: 'True' }
const AT = 'status.conditions'

updates(t, requests, VALID, [
  ['a decision', {}, conditions(approved)],
  ['a decision that is none', {}, conditions({ type: 'Approved', status: 'False' }), `NotSupported ${AT}[0].status`],
  ['a condition that says nothing', {}, conditions({}), `Required ${AT}[0].type`, `Required ${AT}[0].status`],
  ['an unknown state', {}, conditions({ type: 'Seen', status: 'Maybe' }), `NotSupported ${AT}[0].status`],
  ['a decision twice', {}, conditions(approved, approved), `Duplicate ${AT}[1].type`],
  ['two decisions', {}, conditions(approved, denied), `Invalid ${AT}[1].type`],
  ['a decision is taken back', conditions(approved), conditions(), `Forbidden ${AT}`],
  ['a decision is turned', conditions(denied), conditions(approved), `Forbidden ${AT}`]
], 'approval')
updates(t, requests, VALID, [
  ['a certificate', {}, { status: { certificate: CERTIFICATE } }],
  ['that is none', {}, { status: { certificate: pem('x') } }, 'Invalid status.certificate'],
  ['a request in its place', {}, { status: { certificate: REQUEST } }, 'Invalid status.certificate'],
  [
    'a certificate with a note before it', {},
    { status: { certificate: pem(`note\n${Buffer.from(CERTIFICATE, 'base64').toString()}`) } }
  ],
  [
    'a note alone', {}, { status: { certificate: pem('-----BEGIN CERTIFICATE-----\nnote\n') } },
    'Invalid status.certificate'
  ],
  [
    'is not issued twice', { status: { certificate: CERTIFICATE } }, { status: { certificate: null } },
    'Forbidden status.certificate'
  ],
  ['that it failed', {}, conditions({ type: 'Failed', status: 'True' })],
  ['a decision is none of it', {}, conditions(approved), `Forbidden ${AT}`],
  ['nor is that there is none', conditions(approved), conditions(), `Forbidden ${AT}`],
  ['it is left as it is', conditions(approved), conditions({ ...approved, message: 'x' })]
], 'status')

t.test('the spec is immutable, and the server sets the requestor', async t => {
  t.match(
    updated(requests, VALID, spec({ ...VALID.spec, signerName: 'example.com/other' })), { errors: [], object: VALID }
  )
  const { object } = created(
    requests, spec({ ...VALID.spec, username: 'root', groups: ['system:masters'], extra: { a: ['b'] } })
  )
  t.notMatch(object, { spec: { username: 'root' } })
  const user = { username: 'ann', uid: 'u1', groups: ['staff'], extra: { scope: ['x'] } }
  requests.type.strategy.prepareForCreate?.(object, user, DEFAULT_GATES)
  t.match(object, { spec: user })
})

t.test('an update of the status does not change decisions', async t => {
  const before = conditions({
    ...approved, reason: 'Fine', lastUpdateTime: '2026-01-02T03:04:05Z', lastTransitionTime: '2026-01-02T03:04:05Z'
  })
  t.match(
    updated(
      requests, { ...VALID, ...before },
      { ...VALID, ...conditions({ type: 'Failed', status: 'True' }, { ...approved, reason: 'Other' }) }, 'status'
    ).object,
    { status: { conditions: [{ type: 'Failed' }, before.status.conditions[0]] } }
  )
})

t.test('a text in which much begins and nothing ends is read once', async t => {
  const request = pem('-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(80_000))
  const start = ownTime()
  t.same(created(requests, spec({ ...VALID.spec, request })).errors.map(({ field }) => field), ['spec.request'])
  t.ok(ownTime() - start < 1000)
})

t.test('conditions get the time of their update', async t => {
  t.match(updated(requests, VALID, { ...VALID, ...conditions(approved) }, 'approval').object, {
    status: { conditions: [{ lastUpdateTime: /^\d{4}-/, lastTransitionTime: /^\d{4}-/ }] }
  })
})
