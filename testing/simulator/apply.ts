/** Writes what a stage makes of an object. */
import type { AnyObject, Objects, OwnClient } from '../../host/contract.js'
import type { Simulated, Stage, StageContext, Written } from './stage.js'

/** Whether it is to be tried again. */
export type Applied = 'done' | 'failed'

interface Application { readonly stage: Stage, readonly object: Simulated, readonly context: StageContext }

/** @param report gets the name of the stage and its error */
export async function apply (
  client: OwnClient, { stage, object, context }: Application, report: (name: string, error: Error) => void
): Promise<Applied> {
  const { name, resource, next: { patch, status, create, event, delete: deletes, type = 'merge' } } = stage
  const { metadata: { name: named, namespace, uid, resourceVersion } } = object
  const within = namespace === undefined ? {} : { namespace }
  const objects: Objects<AnyObject> = client.of(resource)
  const objectOf = (written: Written): AnyObject =>
    (typeof written === 'function' ? written(object, context) : written) as AnyObject
  /** Of this object, in this version until it is written. */
  const patched = (written: Written, version?: string): object => {
    const { metadata, ...rest } = objectOf(written)
    return { ...rest, metadata: { ...metadata, uid, ...version === undefined ? {} : { resourceVersion: version } } }
  }
  try {
    if (patch !== undefined) await objects.patch(named, patched(patch, resourceVersion), { ...within, type })
    if (status !== undefined) {
      const body = patched(() => ({ status: objectOf(status) }), patch === undefined ? resourceVersion : undefined)
      await objects.subresource('status').patch(named, body, { ...within, type })
    }
    if (create !== undefined) await createOnce(client, objectOf(create))
    if (event !== undefined) await createOnce(client, eventOf(object, event, context.now))
    if (deletes === true) {
      await objects.delete(named, { ...within, gracePeriodSeconds: 0, preconditions: { uid } })
    }
    return 'done'
  } catch (error) {
    const { reason } = (error as { status?: { reason?: string } }).status ?? {}
    // It has changed, or is gone: what comes of that is the next change.
    if (reason === 'Conflict' || (reason === 'NotFound' && create === undefined)) return 'done'
    report(`stage ${name}`, error as Error)
    return 'failed'
  }
}

async function createOnce (client: OwnClient, object: AnyObject): Promise<void> {
  const { apiVersion = '', kind = '' } = object
  try {
    await client.of({ apiVersion, kind }).create(object)
  } catch (error) {
    if ((error as { status?: { reason?: string } }).status?.reason !== 'AlreadyExists') throw error
  }
}

function eventOf (
  { apiVersion, kind, metadata: { name, namespace, uid } }: Simulated,
  { type = 'Normal', reason, message }: NonNullable<Stage['next']['event']>, now: string
): AnyObject {
  return {
    apiVersion: 'v1', kind: 'Event',
    metadata: { generateName: `${name}.`, namespace: namespace ?? 'default' },
    involvedObject: { apiVersion, kind, name, uid, ...namespace === undefined ? {} : { namespace } },
    type, reason, message, source: { component: 'simulator' }, firstTimestamp: now, lastTimestamp: now, count: 1
  }
}
