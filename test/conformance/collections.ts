/** Every stored resource, in every served version, with a sample of each. Tables of tests iterate over them. */
import { representations } from '../../schemas/resources.js'
import { featureGates } from '../../schemas/gates.js'
import { isServed, type Representation } from '../../schemas/resource.js'
import type { ServerOptions } from '../../app.js'
import { build, type Client, type Json, type Test } from '../build.js'
import { nameOf, sampleOf, SAMPLES, WRITTEN_IN } from '../samples.js'

/**
 * Serves every version. StorageObjectInUseProtection would keep deleted volumes until a controller releases them, and
 * ResourceQuota would count objects meanwhile. Kinds of later releases are there too.
 */
export const ALL = {
  api: { disabled: [] },
  featureGates: { APISelfSubjectReview: true, MutatingAdmissionPolicy: true, ValidatingAdmissionPolicy: true },
  admission: { disabled: ['StorageObjectInUseProtection', 'ResourceQuota'] }
}

const gates = featureGates(ALL.featureGates)
const all = representations.filter(({ type }) => !type.virtual)
/** Those that a server of the interface's release serves with these options. */
export const stored = all.filter(one => isServed(one, gates))
/** Those that it cannot serve. */
export const later = all.filter(one => !isServed(one, gates))

/** A server of each release, and what is asked of it: kinds of the interface's release of that one. */
const SERVERS: ReadonlyArray<{ readonly options: ServerOptions, readonly resources: readonly Representation[] }> = [
  { options: { ...ALL, emulatedVersion: '1.24' }, resources: stored },
  {
    options: {
      ...ALL, emulatedVersion: '1.36', featureGates: { StorageVersionMigrator: true, DRADeviceTaintRules: true }
    },
    // Their samples are of a version that this release does not serve; they have tests of their own.
    resources: later.filter(({ group }) => group !== 'flowcontrol.apiserver.orch.io')
  }
]

/** Each kind, with a server that serves it. @param more options of the servers */
export async function * eachServed (
  t: Test, more: ServerOptions = {}
): AsyncGenerator<{ readonly server: Client, readonly one: Representation }> {
  for (const { options, resources } of SERVERS) {
    const server = await build(t, { ...options, ...more })
    for (const one of resources) yield { server, one }
  }
}

const rootOf = ({ group, apiVersion }: Representation): string => `${group === '' ? '/api' : '/apis'}/${apiVersion}`
export const urlOf = (one: Representation): string =>
  `${rootOf(one)}/${one.namespaced ? 'namespaces/default/' : ''}${one.plural}`
export const title = ({ apiVersion, plural }: Representation): string => `${apiVersion} ${plural}`

/** The representation in which the sample is written. */
function written (one: Representation): Representation {
  const { representations: all, plural, stored } = one.type
  return all.find(({ version }) => version === WRITTEN_IN[plural]) ?? stored
}

export const sample = sampleOf

/** The sample with that index and the URL to post it to, in the version it is written in. */
export function creation (one: Representation, index = 0): { readonly url: string, readonly body: Json } {
  const source = one.plural === 'events' ? one : written(one)
  const body = one.plural === 'events' && one.group !== '' ? SAMPLES['events.orch.io/events'] : sample(one)
  return {
    url: urlOf(source),
    body: {
      ...body,
      metadata: { name: nameOf(one.group, one.plural, index), labels: { of: 'sample', ...body?.['metadata']?.labels } }
    }
  }
}

/** True if it is deleted in two steps, because a controller of the server empties it first. */
export const isEmptied = ({ plural }: Representation): boolean =>
  plural === 'namespaces' || plural === 'customresourcedefinitions'

/** The condition, or field of the status, that the server adds to some kinds after their create. */
const SETTLED: Readonly<Record<string, string>> = {
  customresourcedefinitions: 'Established', apiservices: 'Available', validatingadmissionpolicies: 'observedGeneration'
}

/** Creates the sample, and waits until the server has written its status. */
export async function create (server: Client, one: Representation, index = 0): Promise<Json> {
  const { url, body } = creation(one, index)
  const { code, json } = await server.post(url, body)
  if (code !== 201) throw new Error(`${url}: ${code} ${JSON.stringify(json)}`)
  const settled = SETTLED[one.plural]
  if (settled === undefined) return json
  for (;;) {
    const { json: now } = await server.get(`${url}/${String(json['metadata'].name)}`)
    if (settled in (now['status'] ?? {}) ||
      now['status']?.conditions?.some(({ type }: Json) => type === settled) === true) {
      return now
    }
    await new Promise(resolve => { setImmediate(resolve) })
  }
}
