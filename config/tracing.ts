/** Tracing options from `--tracing-config-file`. @see interface, `--tracing-config-file` */
import type { TracingOptions } from '../plugins/tracing/index.js'
import { TRACING_CONFIGURATIONS, type TracingConfiguration } from '../schemas/api/apiserver/tracing.js'
import { readDocument } from './documents.js'
import type { Source } from './public-settings.js'
import { FlagError } from './flag.js'

/** @throws FlagError */
export function tracingOptions (source: Source): TracingOptions {
  const { endpoint, samplingRatePerMillion } = readDocument<TracingConfiguration>(source, TRACING_CONFIGURATIONS)
  const address = endpoint === undefined ? undefined : addressOf(endpoint)
  if (address instanceof Error) {
    throw new FlagError(source.flag, source.path, `endpoint: ${JSON.stringify(endpoint)} ${address.message}`)
  }
  return { receiver: { endpoint: address, samplingRatePerMillion } }
}

/** Describes an invalid endpoint of a host; valid ones are passed on unchanged. */
export function endpointProblem (endpoint: string): string | undefined {
  const address = addressOf(endpoint)
  if (address instanceof Error) return address.message
  return address === endpoint ? undefined : `must be in the form ${JSON.stringify(address)}`
}

const MAX_PORT = 65_535

/**
 * Parses a gRPC name: `host:port`, `dns:///host:port`, `unix:path`, `unix:///path`; the default port is 443, as in
 * gRPC. The client library supports neither abstract sockets nor DNS authorities.
 * @returns `host:port` or `unix:///path`, or what is wrong
 */
function addressOf (endpoint: string): string | Error {
  if (/^unix-abstract:/i.test(endpoint)) {
    return new Error('names an abstract socket, which is not supported by this version; use unix:///PATH')
  }
  if (/^unix:/i.test(endpoint)) {
    const socket = endpoint.slice('unix:'.length).replace(/^\/\/(?=\/)/, '')
    return /^\/[^/]/.test(socket) ? `unix://${socket}` : new Error('must have the path of a socket: unix:///PATH')
  }
  const named = /^dns:/i.test(endpoint) ? endpoint.slice('dns:'.length).replace(/^\/\/\//, '') : endpoint
  if (named.startsWith('//')) {
    return new Error('names a server of names, which is not supported by this version; use dns:///HOST:PORT')
  }
  const [host, port = '443'] = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i.exec(named) ?? []
  return host !== undefined && Number(port) >= 1 && Number(port) <= MAX_PORT
    ? named
    : new Error('must have a host and a port: HOST:PORT')
}
