/**
 * Follows the certificate files of the listener while the server runs: served pairs and CA bundles of clients. New
 * connections get the new certificates; open ones stay, and each request checks whether its client's certificate is
 * still trusted. An invalid file changes nothing.
 * @see interface, --tls-cert-file, --tls-sni-cert-key, --cert-dir, --client-ca-file, --requestheader-client-ca-file
 */
import type { SecureContextOptions, Server } from 'node:tls'
import { WatchedFiles } from '../clients/watched-files.js'
import { checkPair, parseCertificates } from '../config/certificates.js'
import type { AuthoritiesFile } from '../config/options.js'
import type { ServedPair } from './tls.js'

export interface FollowOptions {
  readonly pairs: readonly ServedPair[]
  readonly bundles: readonly AuthoritiesFile[]
  readonly server: Pick<Server, 'setSecureContext'>
  /** The TLS settings with the current pairs and these authorities in PEM. */
  readonly context: (authorities: readonly string[]) => SecureContextOptions
  /** Called after each change of a flag's files, with whether they are valid. */
  readonly reloaded: (flag: string, valid: boolean) => void
  /** Logs one line. */
  readonly log: (level: 'info' | 'warn', message: string) => void
}

export interface FollowedFiles {
  /** Checks all files now. */
  readonly check: () => Promise<void>
  readonly close: () => void
}

/** Files that change together. */
interface Source {
  readonly flag: string
  readonly paths: readonly string[]
  readonly news: string
  /**
   * Uses the new contents. Returns false if they are unchanged.
   * @throws Error if they are invalid; the current ones stay in use
   */
  readonly take: (texts: readonly string[]) => boolean
}

/** @throws ClientError if a file cannot be read */
export async function followCertificates (options: FollowOptions): Promise<FollowedFiles> {
  const followed = await Promise
    .all([...pairSources(options), ...bundleSources(options)].map(source => follow(source, options)))
  return {
    check: async () => { for (const files of followed) await files.check() },
    close: () => { for (const files of followed) files.close() }
  }
}

async function follow ({ flag, paths, news, take }: Source, { reloaded, log }: FollowOptions): Promise<WatchedFiles> {
  const changed = (contents: WatchedFiles['contents']): void => {
    try {
      if (!take(paths.map(path => contents.get(path)?.toString() ?? ''))) return
    } catch (error) {
      reloaded(flag, false)
      throw error
    }
    reloaded(flag, true)
    log('info', news)
  }
  const warn = ({ message }: Error): void => { log('warn', message) }
  const watched = await WatchedFiles.open({ paths, onChange: changed, onError: warn })
  try {
    changed(watched.contents) // the files may have changed since start-up read them
  } catch (error) {
    warn(error as Error)
  }
  return watched
}

const pairSources = ({ pairs, bundles, server, context }: FollowOptions): Source[] => pairs.map(pair => {
  const { flag, files } = pair
  const renew = (): SecureContextOptions => context(bundles.map(({ authorities }) => authorities.pem))
  return {
    flag,
    paths: [files.certificate, files.key],
    news: `the serving certificate in ${files.certificate} was replaced`,
    take: ([certificate = '', key = '']) => {
      const before = pair.current
      if (certificate === before.certificate && key === before.key) return false
      checkPair({ certificate, key })
      pair.current = { certificate, key }
      try {
        server.setSecureContext(renew())
      } catch (error) {
        pair.current = before
        server.setSecureContext(renew())
        throw error
      }
      return true
    }
  }
})

const bundleSources = ({ bundles, server, context }: FollowOptions): Source[] =>
  bundles.map(({ flag, path, authorities }) => ({
    flag,
    paths: [path],
    news: `the authorities of clients in ${path} were replaced`,
    take: ([text = '']) => {
      if (text === authorities.pem) return false
      parseCertificates(text)
      server.setSecureContext(
        context(bundles.map(other => other.authorities === authorities ? text : other.authorities.pem))
      )
      authorities.replace(text)
      return true
    }
  }))
