import t from 'tap'
import {
  alreadyExists, conflict, describe, expired, forbidden, invalid, isStatusError, notFound, StatusError, tooManyRequests
} from '../../schemas/status.js'

const BINDINGS = { group: 'rbac.authorization.orch.io', resource: 'clusterrolebindings' }

t.test('each constructor makes the Status of its reason', async t => {
  t.same(notFound(BINDINGS, 'x').status, {
    kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure',
    message: 'clusterrolebindings.rbac.authorization.orch.io "x" not found', reason: 'NotFound',
    details: { name: 'x', group: 'rbac.authorization.orch.io', kind: 'clusterrolebindings' }, code: 404
  })
  t.equal(
    notFound(BINDINGS, 'a"b').status.message, 'clusterrolebindings.rbac.authorization.orch.io "a\\"b" not found',
    'names are quoted'
  )
  t.match(alreadyExists({ group: '', resource: 'secrets' }, 's').status, {
    code: 409, reason: 'AlreadyExists', message: 'secrets "s" already exists', details: { kind: 'secrets' }
  })
  t.match(conflict(BINDINGS, 'x', 'why').status, { code: 409, reason: 'Conflict' })
  t.match(expired('old').status, { code: 410, reason: 'Expired' })
  t.match(forbidden(BINDINGS, '', 'no').status, {
    code: 403, message: 'clusterrolebindings.rbac.authorization.orch.io is forbidden: no'
  })
  t.match(tooManyRequests('busy', 3), { status: { code: 429 }, headers: { 'retry-after': '3' } })
})

t.test('predicates distinguish reasons', async t => {
  t.ok(isStatusError(notFound(BINDINGS, 'x'), 'NotFound'))
  t.notOk(isStatusError(notFound(BINDINGS, 'x'), 'Conflict'))
  t.notOk(isStatusError(new Error('x')))
  t.equal(
    new StatusError('InternalError', 'x', { cause: 'secret' }).status.message, 'x', 'the cause is not in the message'
  )
})

t.test('findings become causes, in bounded length', async t => {
  const errors = Array.from(
    { length: 300 },
    (_, at) => ({ type: 'FieldValueInvalid' as const, field: `f[${at}]`, value: 'v'.repeat(1000), detail: 'is bad' })
  )
  const { status } = invalid({ group: 'g', kind: 'Kind' }, 'n', errors)
  t.equal(status.code, 422)
  t.equal(status.details?.causes?.length, 100)
  t.ok((status.message ?? '').length < 10_000)
  t.equal(describe({ type: 'FieldValueRequired', field: 'a', detail: '' }), 'Required value')
  t.equal(
    describe({ type: 'FieldValueNotSupported', field: 'a', value: 'x', detail: 'y' }), 'Unsupported value: "x": y'
  )
  t.match(
    invalid(
      { group: '', kind: 'ConfigMap' }, 'n', [{ type: 'FieldValueRequired', field: 'a', detail: '' }]
    ).status.message,
    'ConfigMap "n" is invalid: a: Required value'
  )
})
