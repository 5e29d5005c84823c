/** The notation of field ownership in tests. */
import type { Answer, Client, Json } from '../build.js'

export const APPLY = 'application/apply-patch+yaml'
export const CONFIGS = '/api/v1/namespaces/default/configmaps'
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'

/** Each entry as `operation manager subresource`, with its set as text. */
export const ownersOf = ({ metadata: { managedFields = [] } }: Json): Record<string, string> =>
  Object.fromEntries((managedFields as Json[]).map(
    ({ manager = '', operation, subresource, fieldsV1 }) => [
      `${operation} ${manager}${subresource === undefined ? '' : ` ${subresource}`}`, JSON.stringify(fieldsV1)
    ]
  ))

/** Applies as a manager; an object is sent as JSON, a text unchanged. */
export const apply = (server: Client, url: string, manager: string, object: unknown, query = ''): Promise<Answer> =>
  server.patch(`${url}?fieldManager=${manager}${query}`, object, APPLY)

export const configMap = (data: object, metadata: object = {}): object => ({
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data
})
