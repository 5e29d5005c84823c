/** CertificateSigningRequest (v1): a request for a certificate. */
import { age, name, NONE, text, type Column } from '../../columns.js'
import { humanDuration } from '../../meta/duration.js'
import { int32, map, one, bytes, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { stringList, Time } from '../../meta/scalars.js'
import { pathSegment } from '../../names.js'
import type { Subresource } from '../../subresource.js'
import { resource } from '../../resource.js'
import {
  prepareRequest, prepareRequestUpdate, validateRequestSpec, validateRequestStatus, validateRequestUpdate
} from './rules/certificatesigningrequests.js'

const { kind, message, special } = apiPackage('certificates.orch.io', 'v1', 'io.orch.api.certificates.v1')

export const ExtraValue = special<string[]>(
  'ExtraValue', 'What else is known of a user under one key.', { items: list(1, 'The values.', 'string') }, stringList
)

export type CertificateSigningRequestSpec = Static<typeof CertificateSigningRequestSpec>
export const CertificateSigningRequestSpec =
  message('CertificateSigningRequestSpec', 'The requested certificate, and who requests it.', {
    request: bytes(1, 'Certificate request (PKCS 10) in PEM form.', { required: true, listType: 'atomic' }),
    signerName: string(7, 'Signer of the certificate, as domain/path.', {
      required: true, missing: 'signerName must be provided'
    }),
    expirationSeconds: int32(8, 'Seconds the certificate should be valid, at least 600.', { pointer: true }),
    usages: list(5, 'What the key may be used for, such as client auth.', 'string', {
      values: [
        'signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement', 'data encipherment',
        'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any', 'server auth', 'client auth', 'code signing',
        'email protection', 's/mime', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing',
        'microsoft sgc', 'netscape sgc'
      ],
      closed: true, listType: 'atomic'
    }),
    username: string(2, 'User who made the request; set by the API server.'),
    uid: string(3, 'UID of the user; set by the API server.'),
    groups: list(4, 'Groups of the user; set by the API server.', 'string', { listType: 'atomic' }),
    extra: map(6, 'Further attributes of the user; set by the API server.', ExtraValue)
  }, { validate: (spec, at, report) => { validateRequestSpec(spec, at, report) } })

export type CertificateSigningRequestCondition = Static<typeof CertificateSigningRequestCondition>
export const CertificateSigningRequestCondition =
  message('CertificateSigningRequestCondition', 'A decision or finding about a request.', {
    type: string(1, 'Type of the condition: Approved, Denied or Failed.', {
      required: true, mayBeEmpty: true, values: ['Approved', 'Denied', 'Failed']
    }),
    status: string(6, 'Whether it holds; only True for Approved, Denied and Failed.', {
      required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
    }),
    reason: string(2, 'One word for a machine.'),
    message: string(3, 'A sentence for a person.'),
    lastUpdateTime: one(4, 'When the condition was last updated.', Time),
    lastTransitionTime: one(5, 'When status last changed.', Time)
  })

export type CertificateSigningRequestStatus = Static<typeof CertificateSigningRequestStatus>
export const CertificateSigningRequestStatus =
  message('CertificateSigningRequestStatus', 'Whether a request was approved, and the certificate issued.', {
    conditions: list(1, 'Decisions on the request, such as Approved.', CertificateSigningRequestCondition, {
      listType: 'map', listMapKeys: ['type']
    }),
    certificate: bytes(2, 'Certificate chain that was issued, in PEM form.', { immutable: 'ruled', listType: 'atomic' })
  })

export type CertificateSigningRequest = Static<typeof CertificateSigningRequest>
export const CertificateSigningRequest = kind('CertificateSigningRequest', 'Asks a signer for an X.509 certificate.', {
  metadata,
  spec: one(2, 'The requested certificate, and who requests it; does not change.', CertificateSigningRequestSpec, {
    required: true, immutable: true
  }),
  status: one(3, 'Whether it was approved, and the certificate issued.', CertificateSigningRequestStatus)
}, {
  validate: (object, _at, report) => { validateRequestStatus(object, report) },
  validateUpdate: (object, old, _at, report) => { validateRequestUpdate(object, old, '', report) }
})

const changed = (subresource: string): NonNullable<Subresource['validateUpdate']> => (object, old, report) => {
  validateRequestStatus(object as CertificateSigningRequest, report)
  validateRequestUpdate(object as CertificateSigningRequest, old as CertificateSigningRequest, subresource, report)
}

/** The decision and its outcome, as `Approved,Issued`. */
function conditionOf ({ status: { conditions = [], certificate = '' } }: CertificateSigningRequest): string {
  const has = (wanted: string): boolean => conditions.some(({ type }) => type === wanted)
  const decided = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decided}${has('Failed') ? ',Failed' : ''}${certificate === '' ? '' : ',Issued'}`
}

const columns: ReadonlyArray<Column<CertificateSigningRequest>> = [
  name,
  age,
  text('SignerName', 'Signer of the certificate.', ({ spec }) => spec.signerName || NONE),
  text('Requestor', 'User who asks.', ({ spec }) => spec.username),
  text('RequestedDuration', 'How long the certificate should be valid.', ({ spec }) =>
    spec.expirationSeconds === undefined ? NONE : humanDuration(spec.expirationSeconds * 1000)),
  text('Condition', 'Whether it was approved, and the certificate issued.', conditionOf)
]

export const certificateSigningRequests = resource(CertificateSigningRequest, {
  plural: 'certificatesigningrequests',
  shortNames: ['csr'],
  namespaced: false,
  subresources: [
    {
      name: 'approval', verbs: ['get', 'patch', 'update'], changes: ['status.conditions'],
      validateUpdate: changed('approval')
    },
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: changed('status') }
  ],
  columns,
  nameRule: pathSegment,
  strategy: { prepareForCreate: prepareRequest, prepareForUpdate: prepareRequestUpdate },
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName }
})
