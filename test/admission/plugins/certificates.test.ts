/** CertificateApproval, CertificateSigning and CertificateSubjectRestriction. */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { CERTIFICATE, REQUEST } from '../../certificate-requests.js'
import type { Json, Test } from '../../build.js'
import { MERGE, serve, type Served } from '../served.js'

const REQUESTS = '/apis/certificates.orch.io/v1/certificatesigningrequests'
const RBAC = '/apis/rbac.authorization.orch.io/v1'
const csr = (name: string, signerName: string, request: string): Json => ({
  metadata: { name }, spec: { request, signerName, usages: ['client auth'] }
})

/**
 * `ann` may change all requests but has no permissions on signers, `sam` has them on one signer, `dom` on all signers
 * of a domain.
 */
async function start (t: Test): Promise<Served> {
  const served = await serve(t, {}, { authorization: { modes: ['RBAC'] }, tokens: ['sam,sam,3', 'dom,dom,4'] })
  const grant = async (name: string, rules: Json[], users: string[]): Promise<void> => {
    await served.made(`${RBAC}/clusterroles`, { metadata: { name }, rules })
    await served.made(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name },
      subjects: users.map(user => ({ kind: 'User', name: user, apiGroup: 'rbac.authorization.orch.io' }))
    })
  }
  const apiGroups = ['certificates.orch.io']
  await grant(
    'changes',
    [
      {
        apiGroups,
        resources: [
          'certificatesigningrequests', 'certificatesigningrequests/status', 'certificatesigningrequests/approval'
        ],
        verbs: ['*']
      }
    ],
    ['ann', 'sam', 'dom']
  )
  await grant(
    'one', [{ apiGroups, resources: ['signers'], resourceNames: ['example.com/one'], verbs: ['approve', 'sign'] }],
    ['sam']
  )
  await grant(
    'domain', [{ apiGroups, resources: ['signers'], resourceNames: ['example.com/*'], verbs: ['approve', 'sign'] }],
    ['dom']
  )
  return served
}

t.test('only users with rights on a signer or its domain may approve and sign', async t => {
  const { as, made } = await start(t)
  const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } }
  const signed = { status: { certificate: CERTIFICATE } }
  for (const [index, signer] of ['example.com/one', 'example.com/two'].entries()) {
    const url = `${REQUESTS}/r${index}`
    await made(REQUESTS, csr(`r${index}`, signer, REQUEST))
    const may = index === 0 ? ['sam', 'dom'] : ['dom']
    for (const user of ['ann', 'sam', 'dom'].filter(user => !may.includes(user))) {
      t.match(
        await as(user, 'PATCH', `${url}/approval`, approved, MERGE),
        {
          code: 403,
          json: {
            message:
              `certificatesigningrequests.certificates.orch.io "r${index}" is forbidden: user not permitted to ` +
              `approve requests with signerName "${signer}"`
          }
        },
        user
      )
      t.match(
        await as(user, 'PATCH', `${url}/status`, signed, MERGE),
        {
          code: 403,
          json: {
            message:
              `certificatesigningrequests.certificates.orch.io "r${index}" is forbidden: user not permitted to sign ` +
              `requests with signerName "${signer}"`
          }
        },
        user
      )
      t.equal(
        (await as(user, 'PATCH', `${url}/status`, { metadata: { labels: { a: user } } }, MERGE)).code, 200,
        'fields other than certificate and conditions'
      )
    }
    for (const user of may) t.equal((await as(user, 'PATCH', `${url}/approval`, approved, MERGE)).code, 200, user)
    for (const user of may) t.equal((await as(user, 'PATCH', `${url}/status`, signed, MERGE)).code, 200, user)
  }
})

t.test('a client certificate for system:masters is refused', async t => {
  const { post } = await serve(t, {})
  const folder = t.testdir()
  const requestOf = (subject: string): string => {
    execFileSync(
      'openssl',
      [
        'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout',
        join(folder, 'key'), '-subj', subject
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] }
    )
    const args = ['req', '-new', '-key', join(folder, 'key'), '-subj', subject]
    return execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString('base64')
  }
  const masters = requestOf('/O=team/O=system:masters/CN=ann')
  for (const signer of ['orch.io/orch-apiserver-client', 'orch.io/kube-apiserver-client']) {
    t.match(await post(REQUESTS, csr('m', signer, masters)), {
      code: 403,
      json: {
        message:
          `certificatesigningrequests.certificates.orch.io "m" is forbidden: use of ${signer} signer with ` +
          'system:masters group is not allowed'
      }
    })
  }
  t.equal((await post(REQUESTS, csr('other', 'example.com/one', masters))).code, 201, 'other signers decide themselves')
  t.equal(
    (await post(REQUESTS, csr('fine', 'orch.io/orch-apiserver-client', requestOf('/O=team/CN=system:masters')))).code,
    201
  )
})
