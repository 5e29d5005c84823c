/**
 * Installs the webhooks of the code under test: a certificate for where it serves, and configurations that lead there
 * instead of to a service in a cluster.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isObject } from '../schemas/language/values.js'
import { selfSigned } from '../serving/certify.js'
import { readFixtures, type Fixture, type FixtureObject, type SourcedObject } from './fixtures.js'
import { checkWebhookOptions } from './options.js'

export interface WebhookOptions {
  /** Where the code under test serves on the loopback interface. Default a free port. */
  readonly port?: number
  /** Where it serves, if that is elsewhere: `https://host:9443`, with a path if each of its paths is below one. */
  readonly url?: string
  /** Where `tls.crt` and `tls.key` are written. Default a temporary folder, which `dispose` removes. */
  readonly certDir?: string
}

export interface InstalledWebhooks {
  /** Where the server calls the webhooks: `https://127.0.0.1:PORT`. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** The folder of `tls.crt` and `tls.key`. */
  readonly certDir: string
  /** The certificate to serve with, in PEM; it is its own authority. */
  readonly certificate: string
  readonly key: string
}

interface Prepared {
  readonly installed: InstalledWebhooks
  readonly objects: SourcedObject[]
  /** Whether the folder goes with the server. */
  readonly isTemporary: boolean
}

interface ClientConfig { readonly url?: string, readonly service?: { readonly path?: string } }

const HOST = '127.0.0.1'
const CONFIGURATIONS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

/** The certificate and the objects to load. @throws OptionError, Error that names the object */
export async function prepareWebhooks (
  configurations: Fixture, options: WebhookOptions
): Promise<Prepared> {
  checkWebhookOptions(options)
  const given = readFixtures(configurations)
  const url = new URL(options.url ?? `https://${HOST}:${options.port ?? await freePort()}`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const { certificate, key } = selfSigned(host, [...new Set([host, 'localhost', HOST, '::1'])], new Date())
  const base = url.href.replace(/\/$/, '')
  const redirect = (config: unknown): unknown => redirected(config, base, certificate)
  const objects = given.map(sourced => ({ ...sourced, object: rewritten(sourced, redirect) }))
  const certDir = options.certDir === undefined
    ? await mkdtemp(join(tmpdir(), 'orch-webhooks-'))
    : resolve(options.certDir)
  try {
    await mkdir(certDir, { recursive: true })
    await writeFile(join(certDir, 'tls.crt'), certificate)
    await writeFile(join(certDir, 'tls.key'), key, { mode: 0o600 })
  } catch (error) {
    if (options.certDir === undefined) await rm(certDir, { recursive: true, force: true })
    throw error
  }
  return {
    installed: { url: base, host, port: Number(url.port || 443), certDir, certificate, key }, objects,
    isTemporary: options.certDir === undefined
  }
}

function rewritten ({ object, source }: SourcedObject, redirect: (config: unknown) => unknown): FixtureObject {
  const { kind, metadata: { name = '?' } } = object
  if (CONFIGURATIONS.includes(kind)) {
    const { webhooks } = object as { webhooks?: unknown }
    return Array.isArray(webhooks) ? { ...object, webhooks: webhooks.map(hook => withConfig(hook, redirect)) } : object
  }
  if (kind !== 'CustomResourceDefinition') {
    throw new Error(`${kind} ${name} (${source}) is neither a configuration of webhooks nor a definition of a type`)
  }
  const { conversion, ...spec } = object['spec'] as { conversion?: unknown }
  if (!isObject(conversion) || conversion['strategy'] !== 'Webhook') {
    throw new Error(`${kind} ${name} (${source}) has no conversion webhook: spec.conversion.strategy is not Webhook`)
  }
  const webhook = withConfig(conversion['webhook'] ?? { conversionReviewVersions: ['v1'] }, redirect)
  return { ...object, spec: { ...spec, conversion: { ...conversion, webhook } } }
}

/** What is no object is left to the server's validation. */
const withConfig = (webhook: unknown, redirect: (config: unknown) => unknown): unknown =>
  isObject(webhook) ? { ...webhook, clientConfig: redirect(webhook['clientConfig'] ?? { service: {} }) } : webhook

/** A URL of its own is kept: it is no webhook of the code under test. */
function redirected (config: unknown, base: string, certificate: string): unknown {
  const { service, url } = isObject(config) ? config as ClientConfig : {}
  if (url !== undefined || service === undefined) return config
  const path = (service.path ?? '/').replace(/^(?!\/)/, '/')
  return { url: base + path, caBundle: Buffer.from(certificate).toString('base64') }
}

async function freePort (): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => { server.once('error', reject).listen(0, HOST, resolve) })
  const { port } = server.address() as AddressInfo // it listens
  await new Promise(resolve => { server.close(resolve) })
  return port
}
