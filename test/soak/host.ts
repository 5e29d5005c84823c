/** `examples/embed.ts` on a server of each kind: `node host.js KIND PORT`. */
import { host } from '../../examples/embed.js'
import { authority } from '../serving/authority.js'

const [kind = 'host', port] = process.argv.slice(2)
const { certificate: cert, key } = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
const servers: Record<string, object> = {
  host: {},
  'host-tls': { https: { cert, key } },
  'host-http2': { http2: true, https: { cert, key, allowHTTP1: true } },
  'host-h2c': { http2: true }
}
const fastify = await host(servers[kind])
await fastify.listen({ port: Number(port), host: '127.0.0.1' })
