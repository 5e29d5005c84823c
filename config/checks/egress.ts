/** Options of proxies. */
import { DESTINATIONS, type EgressOptions, type EgressProxy } from '../../clients/egress/index.js'
import { MAX_SOCKET_PATH } from '../../schemas/limits.js'
import { choice } from '../flag.js'
import { fromFlag, members, required, string, type Option } from '../option.js'

const httpUrl = string(value => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
  ? undefined
  : 'must be https://HOST:PORT or http://HOST:PORT')

const atUrl = members<Extract<EgressProxy, { readonly url: string }>>({
  protocol: required(fromFlag(choice(['HTTPConnect'], 'HTTPConnect', ''))),
  url: required(httpUrl),
  files: members<NonNullable<Extract<EgressProxy, { readonly url: string }>['files']>>({
    authority: string(), certificate: string(), key: string()
  })
})

const atSocket = members<Extract<EgressProxy, { readonly socket: string }>>({
  protocol: required(fromFlag(choice(['HTTPConnect', 'GRPC'], 'HTTPConnect', ''))),
  socket: required(string(value => value === '' || Buffer.byteLength(value) > MAX_SOCKET_PATH
    ? `must be a path of at most ${MAX_SOCKET_PATH} bytes`
    : undefined))
})

const proxy: Option<EgressProxy> = {
  check: (value, path) => {
    (typeof value === 'object' && value !== null && 'url' in value ? atUrl : atSocket).check(value, path)
  }
}

const [cluster, controlPlane, etcd] = DESTINATIONS
export const egress: Option<EgressOptions> = members<EgressOptions>({
  [cluster]: proxy, [controlPlane]: proxy, [etcd]: proxy
})
