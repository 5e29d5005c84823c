/**
 * Reloads the CA bundles of client certificates while the server runs. New connections are verified with the new bundle; open ones stay,
 * and each request checks whether their certificate is still trusted. An invalid file changes nothing.
 * @see interface, 'Authentication flags': --client-ca-file, --requestheader-client-ca-file
 */
import type { SecureContextOptions, Server } from 'node:tls'
import { WatchedFiles, type Contents } from '../clients/watched-files.js'
import { parseCertificates } from '../config/certificates.js'
import type { AuthoritiesFile } from '../config/options.js'

export interface FollowOptions {
  readonly files: readonly AuthoritiesFile[]
  readonly server: Pick<Server, 'setSecureContext'>
  readonly trusting: (authorities: readonly string[]) => SecureContextOptions
  /** Logs one line. */
  readonly log: (level: 'info' | 'warn', message: string) => void
}

/** @throws ClientError if a file cannot be read */
export async function followAuthorities ({ files, server, trusting, log }: FollowOptions): Promise<WatchedFiles> {
  const paths = [...new Set(files.map(({ path }) => path))]
  const take = (contents: Contents): boolean => {
    const texts = files.map(({ path }) => contents.get(path)?.toString() ?? '')
    for (const [at, text] of texts.entries()) {
      try {
        parseCertificates(text)
      } catch (error) {
        throw new Error(`${files[at]?.path ?? ''}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
    }
    if (files.every(({ authorities }, at) => authorities.pem === texts[at])) return false
    server.setSecureContext(trusting(texts))
    for (const [at, { authorities }] of files.entries()) authorities.replace(texts[at] as string) // same length
    return true
  }
  const watched = await WatchedFiles.open({
    paths,
    onChange: contents => { if (take(contents)) log('info', `the authorities of clients in ${paths.join(', ')} were replaced`) },
    onError: error => { log('warn', error.message) }
  })
  // The files may have changed since start-up read them.
  take(watched.contents)
  return watched
}
