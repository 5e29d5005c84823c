/**
 * Client certificates issued by --client-ca-file: the subject's last common name is the user, its organizations are the
 * groups. (Interface: Client certificates.)
 */
import type { Authenticator, ClientCertificate } from '../../auth/authenticator.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Metrics } from '../shared/metric-series.js'

const users = new WeakMap<ClientCertificate, UserInfo>()

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BUCKETS = [
  0, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 30 * DAY, 90 * DAY, 180 * DAY,
  360 * DAY
]

export function clientCertificateAuthenticator (metrics: Pick<Metrics, 'histogram'>): Authenticator {
  const left = metrics.histogram(
    'apiserver_client_certificate_expiration_seconds', 'Seconds that are left to the certificate of a request.', BUCKETS
  )
    .with()
  return {
    name: 'client-certificate',
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
        users.set(certificate, user = {
          username: certificate.commonName, uid: '', groups: certificate.organizations, extra: {}
        })
      }
      return user
    }
  }
}
