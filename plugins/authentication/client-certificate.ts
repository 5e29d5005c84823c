/**
 * Client certificates issued by --client-ca-file: the subject's last common name is the user, its organizations are the
 * groups. (Interface: Client certificates.)
 */
import { CREDENTIAL_ID, certificateCredential } from '../../auth/credential-ids.js'
import type { Authenticator, ClientCertificate } from '../../auth/authenticator.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import type { Metrics } from '../shared/metric-series.js'

const users = new WeakMap<ClientCertificate, UserInfo>()

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BUCKETS = [
  0, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 30 * DAY, 90 * DAY, 180 * DAY,
  360 * DAY
]

/** @param gates default those of the interface's release */
export function clientCertificateAuthenticator (
  metrics: Pick<Metrics, 'histogram'>, gates: Pick<Gates, 'enabled'> = DEFAULT_GATES
): Authenticator {
  const readsUid = gates.enabled('AllowParsingUserUIDFromCertAuth')
  const identifies = gates.enabled('CertificateIdentifiesUser')
  const left = metrics.histogram(
    'apiserver_client_certificate_expiration_seconds', 'Seconds that are left to the certificate of a request.', BUCKETS
  )
    .with()
  return {
    name: 'client-certificate',
    ownExtra: true,
    authenticate ({ certificate }) {
      if (certificate === undefined) return undefined
      if (!certificate.verified) {
        throw new Error('the client certificate is not valid for authentication: ' +
          `${certificate.problem ?? 'no authority that is trusted has issued it'}`)
      }
      if (certificate.commonName === '') return undefined
      if (certificate.until !== undefined) left.observe((certificate.until - Date.now()) / 1000)
      let user = users.get(certificate)
      if (user === undefined) {
        const { commonName, organizations, uids = [], sha256 = '' } = certificate
        users.set(certificate, user = {
          username: commonName,
          uid: readsUid ? uidOf(uids) : '',
          groups: organizations,
          extra: identifies && sha256 !== '' ? { [CREDENTIAL_ID]: [certificateCredential(sha256)] } : {}
        })
      }
      return user
    }
  }
}

/** @throws Error for more than one, or an empty one */
function uidOf (uids: readonly string[]): string {
  if (uids.length > 1) throw new Error('the client certificate has more than one UID')
  if (uids[0] === '') throw new Error('the UID in the client certificate is empty')
  return uids[0] ?? ''
}
