/** `examples/embed.ts` on a server of each kind: `node host.js KIND PORT …`. */
import { host } from '../../examples/embed.js'
import { authority } from '../serving/authority.js'

const args = process.argv.slice(2)
const { certificate: cert, key } = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
const servers: Record<string, object> = {
  host: {},
  'host-tls': { https: { cert, key } },
  'host-http2': { http2: true, https: { cert, key, allowHTTP1: true } },
  'host-h2c': { http2: true }
}
for (let at = 0; at < args.length; at += 2) {
  const fastify = await host(servers[args[at] ?? ''])
  await fastify.listen({ port: Number(args[at + 1]), host: '127.0.0.1' })
}
