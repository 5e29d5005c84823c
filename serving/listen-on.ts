import type { ListenOptions, Server } from 'node:net'

/** Listens without `fastify.listen`, which logs each address in its own format. Rejects with an Error of the system. */
export async function listenOn (server: Server, options: ListenOptions & { reusePort: boolean }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
