/**
 * Files of authorities that vouch for clients, followed while the server runs: connections made from then on are verified by the
 * new ones, those that are there go on, and what they may still do is looked at with each request. A file that is
 * broken changes nothing.
 *
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
  /** One line. */
  readonly log: (level: 'info' | 'warn', message: string) => void
}

/** @throws ClientError when a file cannot be read */
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
    for (const [at, { authorities }] of files.entries()) authorities.replace(texts[at] as string) // one for each
    return true
  }
  const watched = await WatchedFiles.open({
    paths,
    onChange: contents => { if (take(contents)) log('info', `the authorities of clients in ${paths.join(', ')} were replaced`) },
    onError: error => { log('warn', error.message) }
  })
  // They may have changed since the start has read them.
  take(watched.contents)
  return watched
}
